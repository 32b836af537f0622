/** Containers that a lab's services made. Which engines they used is noted in the lab's folder. */
import { appendFile, readFile, readdir } from 'node:fs/promises';
import { run } from './command.js';
import { enginesDirectory } from './engine-files.js';
import { isMissing, labDirectory } from './lab-id.js';
import { networksOf } from './process-table.js';

const noteFile = (id: string) => `${labDirectory(id)}/docker-hosts`;

/** Notes that containers of the lab may be on the engine at `dockerHost`, a `unix:///...` URL. */
export async function noteDockerHost(id: string, dockerHost: string): Promise<void> {
  await appendFile(noteFile(id), `${dockerHost}\n`);
}

async function notedHosts(id: string): Promise<string[]> {
  try {
    const noted = (await readFile(noteFile(id), 'utf8')).split('\n').filter(Boolean);
    return [...new Set([...noted, ...(await ownEngines())])];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** The lab's own engines: what was noted may be a proxy in front of one, and gone by now. */
async function ownEngines(): Promise<string[]> {
  try {
    const names = await readdir(enginesDirectory);
    return names.map((name) => `unix://${enginesDirectory}/${name}/docker.sock`);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Removes the lab's containers and those joined to them; gives the networks they lived in. An engine that is gone took its containers along. */
export async function removeContainers(id: string): Promise<string[]> {
  const networks: string[] = [];
  for (const host of await notedHosts(id)) {
    const docker = (...args: string[]) => run('docker', ['--host', host, ...args], { timeout: 30_000 });
    if (!(await answers(docker))) continue;
    const owned = words(
      await docker('ps', '--all', '--quiet', '--no-trunc', '--filter', `label=task-eni.instance=${id}`),
    );
    const labelled = words(
      await docker('ps', '--all', '--quiet', '--no-trunc', '--filter', `label=task-eni.lab=${id}`),
    );
    const all = [...new Set([...(await joinedTo(docker, owned)), ...labelled, ...owned])];
    if (all.length === 0) continue;
    const pids = words(await docker('inspect', '--format', '{{.State.Pid}}', ...all)).map(Number);
    networks.push(...(await networksOf(pids.filter((pid) => pid > 0))));
    await docker('rm', '--force', '--volumes', ...all);
  }
  return networks;
}

type Docker = (...args: string[]) => Promise<string>;

async function joinedTo(docker: Docker, owners: readonly string[]): Promise<string[]> {
  if (owners.length === 0) return [];
  const all = words(await docker('ps', '--all', '--quiet', '--no-trunc'));
  const modes = (await docker('inspect', '--format', '{{.Id}} {{.HostConfig.NetworkMode}}', ...all)).split('\n');
  return modes.flatMap((line) => {
    const [id = '', mode = ''] = line.split(' ');
    return owners.some((owner) => mode === `container:${owner}`) ? [id] : [];
  });
}

async function answers(docker: Docker): Promise<boolean> {
  return docker('version', '--format', '{{.Server.Version}}').then(
    () => true,
    () => false,
  );
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
