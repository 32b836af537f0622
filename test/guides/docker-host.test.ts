import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Network } from '../lab/answers.js';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import { packTarball } from '../packaging/installed-package.js';
import type { Machine } from '../packaging/machine.js';
import { Pings } from '../packaging/pings.js';
import { GuideHost, missingForCompose } from './guide-host.js';
import { written } from './guide.js';
import { everyForm } from './stand-ins.js';

const missing = missingForCompose();
const usual = 'registry.k8s.io/pause:3.10';

describe.skipIf(missing !== undefined)(
  `a Docker host, as the guides set it up${missing ? ` (${missing})` : ''}`,
  () => {
    let lab: Lab;
    let host: GuideHost;
    let machine: Machine;
    let elsewhere: DockerEngine;
    let eni: Eni;
    let pings: Pings;

    const inspect = async (what: string, format: string) =>
      (await host.sh(`docker inspect --format '${format}' ${what}`)).trim();
    const container = async () => (await host.sh('docker ps --quiet --filter ancestor=task-eni')).trim();
    const isReady = () =>
      machine.api<{ status: string }>('GET', '/readyz').then(
        ({ status }) => status === 'ready',
        () => false,
      );
    const network = () => machine.api<Network>('GET', '/tasks/web-1/network?verify=true');

    beforeAll(async () => {
      lab = await Lab.create({ name: 'docker guide' });
      eni = await lab.createEni();
      host = await GuideHost.boot(lab, 'docker');
      ({ machine } = host);
      const tarball = await packTarball();
      await copyFile(tarball.path, `${host.folder}/clone/${tarball.name}`);
      const change = "--change 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'";
      const importing = `sh "$0" | docker import ${change} - node:20-bookworm-slim`;
      const options = { env: host.dockerEnvironment(), timeout: 180_000 };
      await run('sh', ['-c', importing, inCheckout('test/guides/node-base.sh')], options);
      elsewhere = await DockerEngine.start({ name: 'elsewhere' });
    }, 300_000);
    afterAll(async () => {
      await pings?.stop();
      await elsewhere?.stop();
      await host?.halt();
      await lab?.destroy();
    });

    it('gets the usual pause image from a machine that has it', async () => {
      await elsewhere.docker('tag', await elsewhere.importImage('pause'), usual);
      await mkdir(`${host.folder}/bin`);
      // Stands in for a way by ssh: the same command, on the host's engine.
      const ssh = `#!/bin/sh\n[ "$1" = host ] && shift && DOCKER_HOST=${host.dockerEnvironment()['DOCKER_HOST']} exec "$@"\n`;
      await writeFile(`${host.folder}/bin/ssh`, ssh);
      await chmod(`${host.folder}/bin/ssh`, 0o755);
      const env = { ...elsewhere.environment(), PATH: `${host.folder}/bin:${process.env['PATH']}` };
      await run('sh', ['-e', '-c', written('deploy/pause/README.md › Take the usual image along')], { env });
      expect(await inspect(usual, '{{json .Config.Entrypoint}}')).toBe('["/pause"]');
    });

    it('takes a pause image that was built elsewhere, or here under another name', async () => {
      await host.sh(written('deploy/pause/README.md › Build it elsewhere and bring it along'));
      await host.sh(written('deploy/pause/README.md › Build it elsewhere and bring it along (2)'));
      expect(await inspect('task-eni/pause:1', '{{.Config.User}} {{json .Config.Entrypoint}}')).toBe(
        '65535:65535 ["/pause"]',
      );
      for (const form of everyForm(written('deploy/pause/build.sh --import NAME:TAG'))) await host.sh(form);
      expect(await inspect('example/pause:2', '{{json .Config.Entrypoint}}')).toBe('["/pause"]');
    });

    it('builds the image, and runs it by compose', async () => {
      await host.sh('rm -rf context');
      await host.sh(written('deploy/README.md › A Docker host'));
      await expect.poll(isReady, { timeout: 60_000 }).toBe(true);
      expect(await host.sh(`docker exec ${await container()} task-eni doctor`)).toMatch(/This host can run task-eni/);
    }, 300_000);

    it('attaches a task in a pause container of the same engine', async () => {
      const attached = await machine.api<Network>('POST', '/tasks/web-1/network', { eni: { macAddress: eni.mac } });
      expect(attached).toMatchObject({ state: 'READY', sandbox: { kind: 'docker', owned: true } });
      pings = await Pings.start(lab, machine.outside(`/proc/${attached.sandbox.pid}/ns/net`), '172.31.0.1');
    });

    it('is upgraded by compose, which costs no task a packet', async () => {
      const former = await container();
      await host.sh('printf "FROM task-eni\\nLABEL upgraded=yes\\n" | docker build --quiet -t task-eni -');
      await host.sh(written('docker compose up -d'), `${host.clone}/context/deploy/image`);
      expect(await container()).not.toBe(former);
      expect(await inspect(await container(), '{{.Config.Labels.upgraded}}')).toBe('yes');
      await expect.poll(isReady, { timeout: 20_000 }).toBe(true);
      expect(await network()).toMatchObject({ state: 'READY', drift: [] });
      const { sent, lost } = await pings.stop();
      expect(sent).toBeGreaterThan(20);
      expect(lost).toBe(0);
      expect(await machine.api('DELETE', '/tasks/web-1/network')).toMatchObject({ state: 'DETACHED' });
      expect(await eni.locate()).toMatchObject({ name: eni.hostName, netns: lab.host.path });
    });
  },
);
