import { Flags, MessageType, type NetlinkMessage } from 'netlink';
import { describe, expect, it } from 'vitest';
import { NetlinkTransport } from '../../../src/kernel/netlink-transport.js';

type Socket = ConstructorParameters<typeof NetlinkTransport>[0];
type Answer = NetlinkMessage[] | Error;

const part = (text: string, flags = 0): NetlinkMessage => ({
  type: 16,
  flags: Flags.MULTI | flags,
  seq: 1,
  port: 1,
  data: Buffer.from(text),
});
const refusal = (errno: number): NetlinkMessage => {
  const data = Buffer.alloc(20);
  data.writeInt32LE(-errno);
  return { type: MessageType.ERROR, flags: 0, seq: 1, port: 1, data };
};
const listing = { type: 18, body: Buffer.alloc(0), operation: 'list things' };

/** A socket that gives the answers in turn, the last one for ever. */
function answering(...answers: Answer[]) {
  let asked = 0;
  const request = async () => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    if (answer instanceof Error) throw answer;
    return [answer, {}] as never;
  };
  const socket = { request, close: () => undefined, on: () => socket } as unknown as Socket;
  return { transport: new NetlinkTransport(socket), asked: () => asked };
}

describe('a listing', () => {
  it('is asked for again while the kernel calls it inconsistent', async () => {
    const torn = [part('half'), part('other half', Flags.DUMP_INTR)];
    const { transport, asked } = answering(torn, torn, [part('whole')]);
    expect(await transport.dump(listing)).toEqual([Buffer.from('whole')]);
    expect(asked()).toBe(3);
  });

  it('is asked for again while the socket is busy with another', async () => {
    const { transport } = answering([refusal(16)], [part('whole')]);
    expect(await transport.dump(listing)).toEqual([Buffer.from('whole')]);
  });

  it('fails in the end when it never becomes consistent', async () => {
    const { transport, asked } = answering([part('torn', Flags.DUMP_INTR)]);
    await expect(transport.dump(listing)).rejects.toMatchObject({ errno: 'EINTR', operation: 'list things' });
    expect(asked()).toBe(20);
  });

  it('is not asked for again when it is refused', async () => {
    const { transport, asked } = answering([refusal(1)]);
    await expect(transport.dump(listing)).rejects.toMatchObject({ errno: 'EPERM' });
    expect(asked()).toBe(1);
  });
});

describe('a request', () => {
  it.each([
    ['ETIMEDOUT', Error('Timeout has been reached')],
    ['EBADMSG', Error('Multipart message not terminated properly')],
    ['EPERM', Object.assign(Error('sendmsg'), { code: 'EPERM' })],
  ])('that goes wrong in the library fails with %s', async (errno, error) => {
    await expect(answering(error).transport.request(listing)).rejects.toMatchObject({ errno, cause: error });
  });

  it('resolves with nothing when the kernel only consents', async () => {
    expect(await answering([refusal(0)]).transport.request(listing)).toBeUndefined();
  });

  it.each([
    ['EEXIST', 17],
    ['EXFULL', 54],
    ['EOPNOTSUPP', 95],
    ['errno 4095', 4095],
  ])('that the kernel refuses fails with %s', async (errno, number) => {
    await expect(answering([refusal(number)]).transport.request(listing)).rejects.toMatchObject({ errno });
  });
});
