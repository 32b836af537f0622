/** The file of a unix socket: bound where nobody else can reach it, given its mode, then put under its name. */
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { type Server, connect } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';

export interface SocketAccess {
  /** Name or number of the group that may connect; null: only the owner. */
  readonly group: string | null;
  /** Whether the folder is the service's own, so that its mode may be changed. */
  readonly ownFolder: boolean;
}

/**
 * Listens at `path` with mode 0600, or 0660 for a group. A socket file whose process is dead is replaced; throws when the
 * process lives, or when the file is no socket. Resolves to what takes the file away again.
 */
export async function listenAtPath(server: Server, path: string, access: SocketAccess): Promise<() => void> {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await refuseLivingSocket(path);
  const nursery = mkdtempSync(join(folder, '.s'));
  try {
    const born = join(nursery, 's');
    server.listen(born);
    await once(server, 'listening');
    if (access.group !== null) giveToGroup(born, groupId(access.group), access.ownFolder ? folder : null);
    else chmodSync(born, 0o600);
    const { ino } = lstatSync(born);
    renameSync(born, path);
    return () => removeOwn(path, ino);
  } finally {
    rmSync(nursery, { recursive: true });
  }
}

async function refuseLivingSocket(path: string): Promise<void> {
  const file = lstatSync(path, { throwIfNoEntry: false });
  if (file === undefined) return;
  if (!file.isSocket()) throw new Error(`${path} is there and is not a socket`);
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    // ECONNREFUSED: nobody listens any more. ENOENT: its owner has just taken it away.
    if (['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return;
    throw error;
  } finally {
    socket.destroy();
  }
  throw new Error(`another process listens at ${path}`);
}

/** Who may use the socket must be able to pass its folder, too. */
function giveToGroup(socket: string, gid: number, folder: string | null): void {
  chownSync(socket, -1, gid);
  chmodSync(socket, 0o660);
  if (folder === null) return;
  chownSync(folder, -1, gid);
  chmodSync(folder, 0o710);
}

/** Node has no getgrnam(3); a group of another source than /etc/group can be given by its number. */
function groupId(group: string): number {
  if (/^\d+$/.test(group)) return Number(group);
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${group}:`));
  if (line === undefined) throw new Error(`there is no group ${group} in /etc/group; its number would do too`);
  return Number(line.split(':')[2]);
}

/** Another service may have put its own socket there since. */
function removeOwn(path: string, ino: number): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path);
}
