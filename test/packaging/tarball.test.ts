import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { written } from '../guides/guide.js';
import { Lab } from '../lab/lab.js';
import { type PackedTarball, installByNpm, installByScript, packTarball } from './installed-package.js';

interface Sbom {
  readonly bomFormat: string;
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

const [installing = '', serving = ''] = written(
  'npm install --omit=dev task-eni-0.1.0.tgz && npx task-eni serve',
).split(' && ');
let tarball: PackedTarball;
let installed: string;
let host: string;
let lab: Lab;

beforeAll(async () => {
  tarball = await packTarball();
  installed = await installByNpm(tarball, installing);
  host = await installByScript(tarball);
  lab = await Lab.create({ name: 'tarball' });
}, 300_000);
afterAll(() => lab?.destroy());

const entry = () => `${installed}/node_modules/task-eni/dist/main.js`;

describe('the packed tarball', () => {
  it('holds the program and what is deployed with it: no sources, no tests, no source maps', async () => {
    expect(tarball.files).toEqual(
      expect.arrayContaining([
        'dist/main.js',
        'dist/credentials/server/main.js',
        'deploy/install.sh',
        'deploy/systemd/task-eni.service',
        'npm-shrinkwrap.json',
        'README.md',
        'LICENSE',
      ]),
    );
    expect(tarball.files.filter((path) => /\.map$|\.ts$|(^|\/)tests?\/|^src\//.test(path))).toEqual([]);
    expect((await stat(tarball.path)).size).toBeLessThan(500_000);
  });

  it('brings no compiler', async () => {
    const found = await run('find', [installed, '-name', 'typescript', '-path', '*/node_modules/typescript']);
    expect(found).toBe('');
  });

  it('says by npx what it is', async () => {
    const { version } = JSON.parse(readFileSync(inCheckout('package.json'), 'utf8')) as { version: string };
    const printed = await run('npx', ['--no-install', 'task-eni', '--version'], { cwd: installed });
    expect(printed.trim()).toBe(version);
  });

  it('tells by doctor that the host can run it', async () => {
    const env = lab.serviceEnvironment();
    const printed = await lab.host.runWith({ env, cwd: installed }, 'npx', '--no-install', 'task-eni', 'doctor');
    expect(printed).toMatch(/This host can run task-eni/);
  });

  it('serves by npx', async () => {
    const env = lab.serviceEnvironment();
    const shell = lab.host.start('sh', ['-c', serving], { env, cwd: installed, stdio: 'ignore', detached: true });
    const ended = once(shell, 'exit');
    const socket = ['--unix-socket', `${lab.directory}/run/api.sock`, '--retry', '100', '--retry-delay', '1'];
    const ready = ['-sS', '--fail', '--retry-all-errors', '--retry-max-time', '30', 'http://localhost/readyz'];
    try {
      expect(await run('curl', [...socket, ...ready])).toContain('"status":"ready"');
    } finally {
      // As Ctrl-C does.
      process.kill(-(shell.pid ?? 0), 'SIGINT');
      await ended;
    }
  });

  it('attaches a task from where it is installed, and detaches it', async () => {
    const eni = await lab.createEni();
    const service = await lab.startService({ entry: entry() });
    try {
      const attached = await service.post('packed-1', { eni: { macAddress: eni.mac } });
      expect(attached.status, JSON.stringify(attached.body)).toBe(201);
      await run('nsenter', [`--net=${attached.body.sandbox.netns}`, 'ping', '-c1', '-W5', '172.31.0.1']);
      expect((await service.del('packed-1')).body).toMatchObject({ state: 'DETACHED' });
      expect(await eni.locate()).toMatchObject({ name: eni.hostName, netns: lab.host.path });
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });
});

describe('the bill of materials', () => {
  let text: string;
  let names: Set<string>;

  beforeAll(async () => {
    text = await run(inCheckout('deploy/package/sbom.mjs'), []);
    const sbom = JSON.parse(text) as Sbom;
    expect(sbom.bomFormat).toBe('CycloneDX');
    names = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`));
  });

  it('names everything that the install script puts on a host, in the same versions', async () => {
    const cwd = `${host}/opt/task-eni`;
    const listed = await run('npm', ['ls', '--all', '--parseable', '--long'], { cwd });
    const [, ...all] = listed.split('\n').flatMap((line) => line.split(':')[1] ?? []);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter((name) => !names.has(name))).toEqual([]);
  });

  it('names nothing that only development needs', () => {
    expect([...names].filter((name) => /^(vitest|typescript|oxlint|prettier)@/.test(name))).toEqual([]);
  });

  it('has only licences that may be shipped with the program', async () => {
    const printed = await run(inCheckout('deploy/package/licences.mjs'), [], { input: text });
    expect(printed).toMatch(/^MIT \(\d+\)$/m);
  });

  it('makes the check of licences fail on one that is not known', async () => {
    const component = { name: 'x', version: '1', licenses: [{ license: { id: 'AGPL-3.0-only' } }] };
    const check = run(inCheckout('deploy/package/licences.mjs'), [], {
      input: JSON.stringify({ components: [component] }),
    });
    await expect(check).rejects.toThrow(/to be looked at: AGPL-3.0-only/);
  });
});
