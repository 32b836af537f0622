import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Group members may read it, for agents that are not root; nobody else may do anything. */
const tooOpen = 0o037;
const most = 1024;

/** The bearer token of the TCP listener. */
export class TokenFile {
  private digest: Buffer;

  private constructor(private readonly path: string) {
    this.digest = digestOf(readToken(path));
  }

  /** Makes the file when it is missing. Throws with the reason when it cannot be used. */
  static open(path: string): TokenFile {
    createWhenMissing(path);
    return new TokenFile(path);
  }

  /** Reads the file again; a bad one throws, and the former token stays. */
  reload(): void {
    this.digest = digestOf(readToken(this.path));
  }

  /** In constant time: what is compared are digests of equal length. */
  matches(candidate: string): boolean {
    return timingSafeEqual(digestOf(candidate), this.digest);
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The file comes under its name whole and 0600: a crash, or another service that starts, never meets an empty one. */
function createWhenMissing(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
}

function readToken(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { mode, size } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error(`${path} is not a regular file`);
    if ((mode & tooOpen) !== 0)
      throw new Error(`${path} has mode ${(mode & 0o777).toString(8)}; others can get at it, so chmod it to 600`);
    if (size > most) throw new Error(`${path} is larger than ${most} bytes`);
    const token = readFileSync(fd, 'utf8').trim();
    if (token === '') throw new Error(`${path} is empty; delete it, and a new token is made at the next start`);
    if (!/^[\x21-\x7e]{16,}$/.test(token))
      throw new Error(`${path} must hold one line of at least 16 visible ASCII characters without a blank`);
    return token;
  } finally {
    closeSync(fd);
  }
}
