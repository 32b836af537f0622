/** Starts and ends the daemon, and removes what a crash left of it. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './command.js';
import type { EngineFiles } from './engine-files.js';
import { HostNamespace } from './host-namespace.js';
import { isMissing, startTime } from './lab-id.js';
import { allPids, endProcesses, labProcesses } from './process-table.js';
import { unmountBelow } from './sweep.js';

const cgroups = '/sys/fs/cgroup';

const namespaceOf = (files: EngineFiles) => new HostNamespace(files.mark, files.mark);

function requireCgroups(): void {
  const version1 = existsSync(`${cgroups}/memory`) && existsSync(`${cgroups}/devices`);
  if (version1 || existsSync(`${cgroups}/cgroup.controllers`)) return;
  throw new Error(
    `Docker needs control groups, and none are mounted: mount -t cgroup2 none ${cgroups}, or start systemd, and try again`,
  );
}

/** Resolves when it answers. */
export async function startDaemon(files: EngineFiles, settings: object): Promise<void> {
  requireCgroups();
  const namespace = namespaceOf(files);
  await run('ip', ['netns', 'add', namespace.name]);
  await namespace.run('ip', 'link', 'set', 'lo', 'up');
  await writeFile(`${files.directory}/daemon.json`, JSON.stringify(settings));
  await runDaemon(files, ['overlay2', 'vfs']);
}

/** One that ended is started with all that it had. */
export async function restartDaemon(files: EngineFiles): Promise<void> {
  // Dead processes that nobody has waited for yet would count as running ones: of the daemon, and of its containerd.
  for (const file of [`${files.directory}/dockerd.pid`, `${files.exec}/containerd/containerd.pid`])
    await rm(file, { force: true });
  await runDaemon(files, [(await stateOf(files)).driver]);
}

interface DaemonState {
  /** `pid start-time`. */
  readonly mark: string;
  /** Where its images are: overlay2 where the disk can, else vfs. */
  readonly driver: string;
}

async function stateOf(files: EngineFiles): Promise<DaemonState> {
  return JSON.parse(await readFile(files.state, 'utf8')) as DaemonState;
}

async function runDaemon(files: EngineFiles, drivers: readonly string[]): Promise<void> {
  const failures: string[] = [];
  for (const driver of drivers) {
    const failure = await tryDaemon(files, driver);
    if (failure === undefined) return;
    failures.push(`${driver}: ${failure}`);
  }
  throw new Error(`dockerd does not start:\n${failures.join('\n')}`);
}

function daemonArguments(files: EngineFiles, driver: string): string[] {
  const network = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'];
  const places = ['--data-root', files.data, '--exec-root', files.exec, '--pidfile', `${files.directory}/dockerd.pid`];
  // Should a containerd of the machine's be there, dockerd takes that one: names of our own keep them apart.
  const containerd = ['--containerd-namespace', files.mark, '--containerd-plugins-namespace', `${files.mark}-plugins`];
  // systemd's driver, the default beside systemd, takes slices alone.
  const rest = [
    '--exec-opt',
    'native.cgroupdriver=cgroupfs',
    '--storage-driver',
    driver,
    '--cgroup-parent',
    `/${files.mark}`,
    '--log-level',
    'warn',
  ];
  return [
    ...network,
    ...places,
    ...containerd,
    ...rest,
    '--config-file',
    `${files.directory}/daemon.json`,
    '-H',
    `unix://${files.socket}`,
  ];
}

/** Why it does not run; undefined when it does. It outlives the process that starts it, since others may share it. */
async function tryDaemon(files: EngineFiles, driver: string): Promise<string | undefined> {
  const log = openSync(files.log, 'w');
  const child = namespaceOf(files).start('dockerd', daemonArguments(files, driver), {
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  child.unref();
  let failure: Error | undefined;
  child.once('error', (error) => (failure = error));
  const deadline = Date.now() + 30_000;
  while (failure === undefined && child.exitCode === null && Date.now() < deadline) {
    if (
      existsSync(files.socket) &&
      (await run('docker', ['-H', `unix://${files.socket}`, 'version']).then(
        () => true,
        () => false,
      ))
    ) {
      const pid = child.pid ?? 0;
      await writeFile(files.state, JSON.stringify({ mark: `${pid} ${await startTime(pid)}`, driver }));
      return undefined;
    }
    await sleep(30);
  }
  child.kill('SIGKILL');
  return failure?.message ?? (await readFile(files.log, 'utf8')).slice(-1500);
}

/** Asks it to end, or kills it, and waits; what does not end in time is left to {@link removeEngine}. */
export async function endDaemon(files: EngineFiles, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const [pid = '', time] = (await stateOf(files)).mark.split(' ');
  if ((await startTime(Number(pid))) !== time) return;
  process.kill(Number(pid), signal);
  const deadline = Date.now() + 10_000;
  while ((await startTime(Number(pid))) === time && Date.now() < deadline) await sleep(10);
}

/** The control group is the one mark that a container's processes cannot lose. */
async function containerProcesses(mark: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await allPids()) {
    try {
      if ((await readFile(`/proc/${pid}/cgroup`, 'utf8')).includes(`:/${mark}/`)) found.push(pid);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return found;
}

async function engineProcesses({ mark }: EngineFiles): Promise<number[]> {
  return [...new Set([...(await labProcesses([mark], new Set())), ...(await containerProcesses(mark))])];
}

/** Removes every trace: processes, mounts, namespace, control groups, files. The folder itself stays, with lock and users in it. */
export async function removeEngine(files: EngineFiles): Promise<void> {
  for (let pids = await engineProcesses(files); pids.length > 0; pids = await engineProcesses(files))
    await endProcesses(pids);
  const namespace = namespaceOf(files);
  await unmountBelow([files.data, files.exec, namespace.path]);
  await rm(namespace.path, { force: true });
  await removeCgroups(files.mark);
  for (const path of [files.data, files.exec, files.socket, files.state, `${files.directory}/dockerd.pid`])
    await rm(path, { recursive: true, force: true });
}

async function removeCgroups(mark: string): Promise<void> {
  const controllers = (await readdir(cgroups)).map((name) => `${cgroups}/${name}/${mark}`);
  for (const path of [`${cgroups}/${mark}`, ...controllers])
    if (existsSync(path)) await run('find', [path, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', '+']);
}
