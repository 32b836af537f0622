import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type Server, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenAtPath } from '../../src/api/socket-file.js';
import { TokenFile } from '../../src/api/token-file.js';

let folder: string;
let path: string;
const servers: Server[] = [];
const ownerOnly = { group: null, ownFolder: false };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'task-eni-socket-'));
  path = join(folder, 'api.sock');
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(folder, { recursive: true });
});

function makeServer(): Server {
  const server = createServer((_request, response) => response.end('here'));
  servers.push(server);
  return server;
}
const mode = (file: string) => statSync(file).mode & 0o777;

describe('the socket file', () => {
  it("is its owner's only, whatever the umask, and nothing else is left beside it", async () => {
    const umask = process.umask(0);
    try {
      await listenAtPath(makeServer(), path, ownerOnly);
    } finally {
      process.umask(umask);
    }
    expect([mode(path), readdirSync(folder)]).toEqual([0o600, ['api.sock']]);
  });

  it("is opened to a group, and its folder with it when that is the service's own", async () => {
    await listenAtPath(makeServer(), path, { group: 'daemon', ownFolder: true });
    expect([mode(path), statSync(path).gid, mode(folder), statSync(folder).gid]).toEqual([0o660, 1, 0o710, 1]);
  });

  it("leaves a folder alone that is not the service's own", async () => {
    await listenAtPath(makeServer(), path, { group: '1', ownFolder: false });
    expect([mode(path), mode(folder), statSync(folder).gid]).toEqual([0o660, 0o700, 0]);
  });

  it('of a dead process is replaced', async () => {
    const dead = makeServer();
    await listenAtPath(dead, path, ownerOnly);
    const { ino } = statSync(path);
    dead.close();
    await once(dead, 'close');
    expect(statSync(path).ino).toBe(ino);
    await listenAtPath(makeServer(), path, ownerOnly);
    const client = connect(path);
    await once(client, 'connect');
    client.destroy();
  });

  it('of a living process stays, as does a file that is no socket', async () => {
    const remove = await listenAtPath(makeServer(), path, ownerOnly);
    await expect(listenAtPath(makeServer(), path, ownerOnly)).rejects.toThrow('another process listens');
    remove();
    writeFileSync(path, 'precious');
    await expect(listenAtPath(makeServer(), path, ownerOnly)).rejects.toThrow('is not a socket');
    expect(readdirSync(folder)).toEqual(['api.sock']);
  });

  it('of a successor is not taken away by its predecessor', async () => {
    const first = makeServer();
    const remove = await listenAtPath(first, path, ownerOnly);
    first.close();
    await once(first, 'close');
    await listenAtPath(makeServer(), path, ownerOnly);
    remove();
    expect(statSync(path).isSocket()).toBe(true);
  });

  it('for a group that does not exist is not made', async () => {
    await expect(listenAtPath(makeServer(), path, { group: 'no-such', ownFolder: false })).rejects.toThrow('no-such');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the token file', () => {
  let token: string;
  beforeEach(() => {
    token = join(folder, 'deeper', 'token');
  });

  it('is made with its folder, for its owner only, and taken again', () => {
    TokenFile.open(token);
    expect([mode(token), mode(join(folder, 'deeper')), readdirSync(join(folder, 'deeper'))]).toEqual([
      0o600,
      0o700,
      ['token'],
    ]);
    const { ino } = statSync(token);
    TokenFile.open(token);
    expect(statSync(token).ino).toBe(ino);
  });

  it('differs from the next', () => {
    TokenFile.open(token);
    TokenFile.open(join(folder, 'other'));
    expect(readFileSync(token, 'utf8')).not.toBe(readFileSync(join(folder, 'other'), 'utf8'));
  });

  it.each([
    ['', 0o600, 'is empty'],
    ['short', 0o600, 'at least 16'],
    ['two words of enough length', 0o600, 'without a blank'],
    ['x'.repeat(2000), 0o600, 'larger than'],
    ['long-enough-a-token', 0o644, 'chmod it to 600'],
    ['long-enough-a-token', 0o620, 'chmod it to 600'],
  ])('is refused with the reason when it is %j with mode %o', (content, bits, reason) => {
    const file = join(folder, 'token');
    writeFileSync(file, content);
    chmodSync(file, bits);
    expect(() => TokenFile.open(file)).toThrow(reason);
  });

  it('may be a link to one that a group can read', () => {
    const file = join(folder, 'real');
    writeFileSync(file, 'long-enough-a-token\n');
    chmodSync(file, 0o640);
    symlinkSync(file, join(folder, 'token'));
    expect(TokenFile.open(join(folder, 'token')).matches('long-enough-a-token')).toBe(true);
  });

  it('is no folder', () => {
    expect(() => TokenFile.open(folder)).toThrow(/not a regular file/);
  });
});
