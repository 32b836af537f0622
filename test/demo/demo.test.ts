import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { run } from '../lab/command.js';
import { belongsTo, labDirectory } from '../lab/lab-id.js';
import { labProcesses } from '../lab/process-table.js';

/** The demo as a user starts it; run.sh becomes the demo's own process, whose id names its lab. */
class Demo {
  text = '';
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;

  constructor(...args: string[]) {
    this.child = spawn('sh', [inCheckout('test/demo/run.sh'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.text += chunk.toString()));
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  get labId(): string {
    return `te${this.child.pid}n1`;
  }

  async says(pattern: RegExp): Promise<string> {
    await expect.poll(() => this.text, { timeout: 60_000 }).toMatch(pattern);
    return pattern.exec(this.text)?.[1] ?? '';
  }

  async left(): Promise<string[]> {
    const namespaces = (await readdir('/run/netns')).filter((name) => belongsTo(this.labId, name));
    const processes = (await labProcesses([this.labId], new Set())).map(String);
    return [...namespaces, ...processes, ...[labDirectory(this.labId)].filter((folder) => existsSync(folder))];
  }
}

let demo: Demo | undefined;
afterEach(async () => {
  demo?.child.kill('SIGTERM');
  await demo?.ended;
});

describe('the demo', () => {
  it('shows two tasks from attach to detach, claims nothing that does not hold, and leaves nothing', async () => {
    demo = new Demo();
    expect(await demo.ended, demo.text).toBe(0);
    const { text } = demo;
    const lines = [
      /web is READY after [\d.]+ ms[^]*worker is READY after [\d.]+ ms/,
      /Inside web[^]*ok {2}the VPC's gateway 172\.31\.0\.1 answers[^]*ok {2}instance metadata, [^]*out of web's reach/,
      /"RoleArn": "arn:aws:iam::123456789012:role\/web"[^]*"SecretAccessKey": "[^"]{4}\.\.\."[^]*Inside worker/,
      /Inside worker[^]*blackhole 169\.254\.169\.254[^]*ok {2}worker gets its own role's credentials/,
      /ok {2}web asks for worker's credentials, knowing their path: 4\d\d/,
      /ok {2}worker asks for web's credentials, knowing their path: 4\d\d/,
      /move-eni +[\d.]+ +[\d.]+\n/,
      /web is gone; its ENI is home again as eth1[^]*worker is gone[^]*Nothing is left of the demo/,
    ];
    for (const line of lines) expect(text).toMatch(line);
    expect(text).not.toContain('FAILED');
    expect(text, 'no colours but on a terminal').not.toContain('\u001b');
    expect(await demo.left()).toEqual([]);
  });

  it('can be kept running for a browser, and detaches its tasks when it is interrupted', async () => {
    demo = new Demo('--keep');
    const page = await demo.says(/live page +(http:\S+)\n/);
    const token = await demo.says(/token +cat (\S+)\n/);
    expect((await fetch(`${page}docs`)).status).toBe(200);
    expect(await (await fetch(page)).text()).toContain('task-eni');
    expect((await fetch(`${page}tasks`)).status).toBe(401);
    const authorization = { Authorization: `Bearer ${(await readFile(token, 'utf8')).trim()}` };
    const { tasks } = (await (await fetch(`${page}tasks`, { headers: authorization })).json()) as { tasks: unknown[] };
    expect(tasks).toHaveLength(2);
    const body = await demo.says(/^ +(\{"eni":.*\})$/m);
    const shell = await demo.says(/\$ (curl \S+\/tasks\/mine\/.*)\n/);
    const json = { ...authorization, 'Content-Type': 'application/json' };
    const mine = await fetch(`${page}tasks/mine/network`, { method: 'POST', headers: json, body });
    expect([mine.status, await mine.json()]).toMatchObject([201, { state: 'READY' }]);
    // The same again, as a shell does it.
    expect(JSON.parse(await run('sh', ['-c', `${shell} --silent`]))).toMatchObject({ taskId: 'mine', state: 'READY' });
    demo.child.kill('SIGINT');
    expect(await demo.ended, demo.text).toBe(0);
    expect(demo.text).toMatch(/mine is detached, too[^]*web is gone[^]*worker is gone[^]*Nothing is left/);
    expect(await demo.left()).toEqual([]);
  });

  it.each([/pretend VPC/, /as in production/, /Inside web/])(
    'cleans up when it is interrupted at %s',
    async (moment) => {
      demo = new Demo();
      await demo.says(moment);
      demo.child.kill('SIGINT');
      expect(await demo.ended, demo.text).toBe(130);
      expect(demo.text).toContain('Nothing is left of the demo');
      expect(await demo.left()).toEqual([]);
    },
  );
});
