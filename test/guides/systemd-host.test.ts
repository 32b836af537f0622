import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeProject } from '../agent/generated-client.js';
import type { Network } from '../lab/answers.js';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import type { Eni } from '../lab/eni.js';
import { Lab } from '../lab/lab.js';
import { Sts } from '../lab/sts.js';
import type { Machine } from '../packaging/machine.js';
import { Pings } from '../packaging/pings.js';
import { GuideHost, hasNetworkd, missingForGuides } from './guide-host.js';
import { written } from './guide.js';
import { everyForm } from './stand-ins.js';

const missing = missingForGuides();
const jq = ['/usr/bin/jq', '/usr/local/bin/jq'].some((file) => existsSync(file));
const guide = readFileSync(inCheckout('deploy/README.md'), 'utf8');
const gateway = '172.31.0.1';
/** What the containers of the guide's task do: all that they know of their credentials is in their environment. */
const program = 'wget -q -O - "http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" && ip -o address';

describe.skipIf(missing !== undefined)(
  `a host with systemd, as the guides set it up${missing ? ` (${missing})` : ''}`,
  () => {
    let lab: Lab;
    let host: GuideHost;
    let machine: Machine;
    let byId: Eni;
    let pings: Pings;

    const containers = async () =>
      (await host.sh('docker ps --all --quiet --filter ancestor=my-image')).split('\n').filter(Boolean);
    const network = () => machine.api<Network>('GET', '/tasks/web-1/network?verify=true');

    const setup = () => host.sh(written('networkctl'), '/');

    beforeAll(async () => {
      lab = await Lab.create({ name: 'systemd guide' });
      byId = await lab.createEni({ id: 'eni-0123456789abcdef0', hostName: 'ens6', attach: false });
      await lab.createEni({ mac: '02:00:00:00:00:01' });
      host = await GuideHost.boot(lab, 'systemd');
      ({ machine } = host);
      await host.makeImage('app', 'my-image', `CMD ${JSON.stringify(['sh', '-c', program])}`);
      // The lab's STS is not where AWS has it, and an ENI that is not there yet is to be missed soon.
      const settings = { ...(await Sts.start(lab)).environment(), TASK_ENI_ENI_WAIT_SECONDS: '1' };
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
      await machine.run('mkdir', '-p', '/etc/task-eni');
      await machine.runWith({ input: lines.join('') }, 'tee', '/etc/task-eni/environment');
    }, 300_000);
    afterAll(async () => {
      await pings?.stop();
      await host?.halt();
      await lab?.destroy();
    });

    it('has a pause image of its own, which the settings name', async () => {
      const block = written('deploy/pause/README.md › Build it here');
      await host.sh(block);
      const [, setting = ''] = /^export (\S+)/m.exec(block) ?? [];
      await machine.runWith({ input: `${setting}\n` }, 'tee', '--append', '/etc/task-eni/environment');
      expect(setting).toMatch(/^TASK_ENI_PAUSE_IMAGE=task-eni\/pause:1$/);
    });

    it('is built, installed, examined and started from a clone', async () => {
      expect(await host.sh(written('README.md › Install'))).toMatch(/This host can run task-eni/);
      expect(await machine.property('task-eni', 'ActiveState')).toBe('active');
      expect(await machine.property('task-eni', 'UnitFileState')).toBe('enabled');
    }, 300_000);

    it('runs from the clone without an installation, too, and writes its API down there', async () => {
      await host.sh(written('npm run openapi'));
      const document = readFileSync(`${host.folder}/clone/openapi/openapi.json`, 'utf8');
      expect(document).toBe(readFileSync(inCheckout('openapi/openapi.json'), 'utf8'));
      expect(await host.sh(written('npx task-eni doctor'))).toMatch(/This host can run task-eni/);
    });

    it.runIf(jq)(
      'stops an agent at the first thing that is refused, with the reason kept and no container started',
      async () => {
        await expect(host.sh(written('README.md › Use it from an agent'))).rejects.toThrow(/ended with 22: [^]*504/);
        expect(JSON.parse(readFileSync(`${host.folder}/clone/web-1.json`, 'utf8'))).toMatchObject({
          code: 'eni-timeout',
        });
        expect(await containers()).toEqual([]);
      },
    );

    it.runIf(jq)(
      "runs an agent's container on the task's ENI, with its role's credentials, and gives the ENI back",
      async () => {
        await byId.attach();
        const [exitCode, ...answer] = (await host.sh(written('README.md › Use it from an agent'))).split('\n');
        expect(exitCode).toBe('0');
        expect(JSON.parse(answer.join('\n'))).toMatchObject({
          state: 'DETACHED',
          eni: { hostInterface: byId.hostName },
        });
        const printed = await host.sh(`docker logs ${(await containers())[0]}`);
        expect(printed).toContain('"RoleArn":"arn:aws:iam::123456789012:role/app"');
        expect(printed).toContain(`inet ${byId.ipv4Address}`);
      },
    );

    it('takes TypeScript that compiles under strict rules, with the types that the command beside it makes', async () => {
      const block = written('README.md › Use it from an agent (2)');
      await host.sh(/\/\/ (npx .*)$/m.exec(block)?.[1] ?? 'false');
      const folder = `${host.folder}/clone/agent`;
      await mkdir(folder, { recursive: true });
      await writeProject(folder);
      await rename(`${host.folder}/clone/task-eni.ts`, `${folder}/task-eni.ts`);
      await writeFile(`${folder}/guide.ts`, block);
      const printed = await host.sh('npx tsc -p agent && node agent/out/guide.js');
      expect(printed).toMatch(/^container:[0-9a-f]{64} \{/);
      pings = await Pings.start(lab, machine.outside(`/proc/${(await network()).sandbox.pid}/ns/net`), gateway);
    });

    it('shows its state by every form of the command', async () => {
      for (const form of everyForm(written('task-eni status [taskId] [--json]')))
        expect(await host.sh(form, '/'), form).toContain('web-1');
      expect(await host.sh(written('task-eni status'), '/')).toContain('web-1');
      expect(await host.sh(written('task-eni doctor'), '/')).toMatch(/This host can run task-eni/);
      expect(await host.sh(written('ip link'), '/')).toContain(byId.mac);
    });

    it('is upgraded by a tarball, and asks which ENI is its own', async () => {
      await host.sh(written('deploy/README.md › From a clone to production'));
      const former = await machine.property('task-eni', 'MainPID');
      expect(await host.sh(written('deploy/README.md › A host with systemd'))).toMatch(/This host can run task-eni/);
      expect(await machine.property('task-eni', 'MainPID')).not.toBe(former);
      expect(await machine.property('task-eni-host-enis', 'ActiveState')).toBe('active');
      const [primary] = await lab.host.ip('link', 'show', 'eth0');
      expect(await machine.run('cat', '/run/task-eni-host/own')).toBe(`${primary?.address}\n`);
      expect(await network()).toMatchObject({ state: 'READY', drift: [] });
    }, 120_000);

    it.runIf(hasNetworkd)("has a networkd that takes an ENI for the host's while it is not marked", async () => {
      await host.startNetworkd();
      await expect.poll(setup, { timeout: 10_000 }).toMatch(/ens6 .* (configuring|configured|failed)$/m);
    });

    it('has its tools told which ENIs are tasks', async () => {
      // A link of the lab has no driver.
      await host.sh(`sed -i 's/DRIVERS=="[^"]*", //' /etc/udev/rules.d/99-zz-task-eni.rules`);
      await machine.systemctl('restart', 'task-eni-host-enis');
      const shown = await host.sh(written('udevadm info /sys/class/net/ens6 | grep TASK_ENI'));
      expect(shown).toMatch(/^E: TASK_ENI=1$/m);
      await host.sh(written('ln -s /dev/null /etc/udev/rules.d/75-cloud-ifupdown.rules'));
      expect(await machine.run('readlink', '/etc/udev/rules.d/75-cloud-ifupdown.rules')).toBe('/dev/null\n');
    });

    it.runIf(hasNetworkd)('has networkd leave them alone', async () => {
      await expect.poll(setup, { timeout: 10_000 }).toMatch(/ens6 .* unmanaged$/m);
    });

    it('is as little exposed as the guide says', async () => {
      const command = written('systemd-analyze security');
      expect(guide).toMatch(/`systemd-analyze security` says 4\.9/);
      const unit = inCheckout('deploy/systemd/task-eni.service');
      const report = await run('sh', ['-c', `${command} --offline=true --no-pager "$0"`, unit]);
      expect(report).toMatch(/Overall exposure level for task-eni.service: 4\.9/);
    });

    it('lets agents of a group use the socket, by the setting and what the editor is given', async () => {
      const [, setting = '', directive = ''] = /`(TASK_ENI_API_SOCKET_GROUP=\w+)`, and\s+`(\S+)` by/.exec(guide) ?? [];
      await machine.runWith({ input: `${setting}\n` }, 'tee', '--append', '/etc/task-eni/environment');
      await machine.runWith({ input: `[Service]\n${directive}\n` }, 'tee', '/root/given');
      const edit = `SYSTEMD_EDITOR="cp /root/given" ${written('systemctl edit task-eni')}`;
      // It wants a terminal.
      await host.sh(`groupadd --force docker; script --quiet --return --command '${edit}' /dev/null`, '/');
      await machine.systemctl('restart', 'task-eni');
      expect(await machine.run('stat', '--format=%G %a', '/run/task-eni/api.sock')).toBe('docker 660\n');
    });

    it('is rid of it by either command, and the task has lost no packet in all that', async () => {
      await host.sh(written('sh deploy/install.sh remove'));
      expect(await machine.property('task-eni', 'LoadState')).toBe('not-found');
      await host.sh(written('deploy/install.sh remove'));
      const { sent, lost } = await pings.stop();
      expect(sent).toBeGreaterThan(100);
      expect(lost).toBe(0);
    });
  },
);
