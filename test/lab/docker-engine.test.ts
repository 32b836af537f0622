import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dirname } from 'node:path';
import { run } from './command.js';
import { noteDockerHost, removeContainers } from './docker-leftovers.js';
import { DockerEngine } from './docker-engine.js';
import { Lab } from './lab.js';
import { labProcesses } from './process-table.js';
import { mountsBelow } from './sweep.js';

const labelled = (lab: Lab) => `task-eni.instance=${lab.id}`;

describe('the engine of the lab', () => {
  let engine: DockerEngine;
  let app: string;
  let pause: string;
  beforeAll(async () => {
    engine = await DockerEngine.start();
    app = await engine.importImage('app');
    pause = await engine.importImage('pause');
  });
  afterAll(() => engine.stop());

  it('runs containers with programs to look about, whose network is lo alone', async () => {
    const links = await engine.docker('run', '--rm', '--network', 'none', app, 'ls', '/sys/class/net');
    expect(links).toBe('lo');
    const applets = 'for each in ip ping wget nc; do command -v $each; done';
    const found = await engine.docker('run', '--rm', app, 'sh', '-c', applets);
    expect(found.split('\n')).toHaveLength(4);
  });

  it('has a pause image that ends at once when told', async () => {
    const id = await engine.docker('run', '--detach', '--network', 'none', pause);
    const start = performance.now();
    await engine.docker('stop', id);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(await engine.docker('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
    await engine.docker('rm', id);
  });

  it('lives in a network namespace of its own and gives the machine neither links nor rules', async () => {
    const inside = await run('nsenter', ['--net=/run/netns/task-eni-lab-engine', '--', 'ip', '-o', 'link']);
    expect(inside.trim().split('\n')).toHaveLength(1);
    expect(await run('ip', ['-o', 'link'])).not.toContain('docker0');
  });

  it('is shared by all that start it, and ends with the last one', async () => {
    const second = await DockerEngine.start();
    expect(second.host).toBe(engine.host);
    await second.stop();
    await expect(engine.docker('version')).resolves.toContain('Server');
  });

  it("loses a lab's containers with the lab, those joined to them too, and keeps another's", async () => {
    const [lab, other] = [await Lab.create(), await Lab.create()];
    const start = async (of: Lab) => {
      await noteDockerHost(of.id, engine.host);
      const name = `${of.id}-task`;
      await engine.docker('run', '--detach', '--name', name, '--network', 'none', '--label', labelled(of), pause);
      await engine.docker(
        'run',
        '--detach',
        '--name',
        `${name}-app`,
        '--network',
        `container:${name}`,
        app,
        'sleep',
        '600',
      );
    };
    await start(lab);
    await start(other);
    await lab.destroy();
    // Others may use the engine at the same time.
    const all = (await engine.docker('ps', '--all', '--format', '{{.Names}}')).split('\n');
    const names = all.filter((name) => name.startsWith(lab.id) || name.startsWith(other.id));
    expect(names.toSorted()).toEqual([`${other.id}-task`, `${other.id}-task-app`]);
    expect(await removeContainers(other.id)).not.toEqual([]);
    await other.destroy();
  });

  it("finds an ENI in a container's namespace", async () => {
    const lab = await Lab.create();
    const eni = await lab.createEni();
    const id = await engine.docker('run', '--detach', '--network', 'none', pause);
    const pid = await engine.docker('inspect', '--format', '{{.State.Pid}}', id);
    await lab.host.run('ip', 'link', 'set', eni.hostName, 'netns', pid);
    expect(await eni.locate()).toEqual({ netns: `/proc/${pid}/ns/net`, name: eni.hostName });
    await engine.docker('rm', '--force', id);
    expect(await eni.locate()).toBeUndefined();
    await lab.destroy();
  });
});

describe('an engine of another name', () => {
  it('is started anew after it was killed, and leaves no trace when stopped', async () => {
    const engine = await DockerEngine.start({ name: 'victim' });
    const app = await engine.importImage('app');
    await engine.docker('run', '--detach', '--network', 'none', '--name', 'left', app, 'sleep', '600');
    const sleeper = Number(await engine.docker('inspect', '--format', '{{.State.Pid}}', 'left'));
    process.kill(await engine.pid(), 'SIGKILL');
    expect(existsSync(`/proc/${sleeper}`)).toBe(true);

    const again = await DockerEngine.start({ name: 'victim' });
    expect(again.host).toBe(engine.host);
    expect(existsSync(`/proc/${sleeper}`)).toBe(false);
    expect(await again.docker('ps', '--all', '--quiet')).toBe('');
    expect(await again.docker('run', '--rm', await again.importImage('app'), 'echo', 'again')).toBe('again');

    await engine.stop();
    await expect(again.docker('version')).resolves.toContain('Server');
    await again.stop();
    expect(await mountsBelow([dirname(again.log)])).toEqual([]);
    expect(existsSync('/run/netns/task-eni-lab-victim')).toBe(false);
    expect(await labProcesses(['task-eni-lab-victim'], new Set())).toEqual([]);
  });
});
