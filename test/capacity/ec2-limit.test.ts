import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeEniLimit } from '../../src/capacity/ec2-limit.js';

const namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/';
const found = `<DescribeInstanceTypesResponse xmlns="${namespace}"><instanceTypeSet><item>
  <instanceType>zz9.large</instanceType><networkInfo><maximumNetworkInterfaces>11</maximumNetworkInterfaces></networkInfo>
  </item></instanceTypeSet></DescribeInstanceTypesResponse>`;
const refused = `<Response><Errors><Error><Code>UnauthorizedOperation</Code>
  <Message>You are not authorized to perform this operation.</Message></Error></Errors><RequestID>1</RequestID></Response>`;

let server: Server;
let answer: { status: number; body: string };
const bodies: string[] = [];

beforeEach(async () => {
  bodies.length = 0;
  server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      response.writeHead(answer.status, { 'content-type': 'text/xml' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('AWS_ENDPOINT_URL_EC2', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'an example');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('the limit that EC2 tells', () => {
  it('is asked for by the type', async () => {
    answer = { status: 200, body: found };
    expect(await describeEniLimit('zz9.large', 'us-west-2')).toBe(11);
    expect(bodies).toEqual([expect.stringContaining('InstanceType.1=zz9.large')]);
  });

  it('is an error with the reason when EC2 refuses', async () => {
    answer = { status: 403, body: refused };
    await expect(describeEniLimit('zz9.large', 'us-west-2')).rejects.toThrow('not authorized');
  });

  it('is an error when EC2 does not say', async () => {
    answer = { status: 200, body: found.replace(/<networkInfo>.*<\/networkInfo>/s, '') };
    await expect(describeEniLimit('zz9.large', 'us-west-2')).rejects.toThrow('does not say how many ENIs zz9.large');
  });
});
