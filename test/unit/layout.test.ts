import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;

interface Import {
  readonly from: string;
  readonly to: string;
  /** Brings in values, not only types. */
  readonly values: boolean;
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const sources = filesBelow('src');
const imports: Import[] = sources.flatMap((from) =>
  [...textOf(from).matchAll(/^(?:import|export) (type )?[^;]*?from '([^']+)';|^import '([^']+)';/gm)].map((match) => ({
    from,
    to: resolve(from, match[2] ?? match[3] ?? ''),
    values: match[1] === undefined && !/^(?:import|export) \{(?:\s*type \w+(?: as \w+)?,?)+\s*\}/.test(match[0]),
  })),
);

function resolve(from: string, specifier: string): string {
  return specifier.startsWith('.') ? normalize(join(dirname(from), specifier)).replace(/\.js$/, '.ts') : specifier;
}

const folderOf = (file: string) => file.split('/')[1] ?? '';

/** From the request inwards: values are imported from further down only. */
const order = [
  ['cli'],
  ['api'],
  ['attachments'],
  ['steps'],
  ['eni', 'sandboxes', 'bridge', 'credentials', 'dhcp', 'capacity', 'metadata', 'metrics'],
  ['kernel', 'store'],
  ['addresses'],
];
const rankOf = (folder: string) => order.findIndex((rank) => rank.includes(folder));

describe('the layout of the sources', () => {
  it('has imports that go one way, from the request to the kernel', () => {
    const pureNames = new Set(['src/attachments/task-id.ts', 'src/attachments/plan.ts']);
    const upwards = imports.filter(({ from, to, values }) => {
      const [above, below] = [rankOf(folderOf(from)), rankOf(folderOf(to))];
      return values && to.startsWith('src/') && above > below && below >= 0 && !pureNames.has(to);
    });
    expect(upwards).toEqual([]);
  });

  it.each([
    ['netlink', 'src/kernel/'],
    ['koffi', 'src/kernel/'],
    ['prom-client', 'src/metrics/'],
  ])('has %s in one folder only', (library, folder) => {
    const strangers = imports.filter(({ from, to, values }) => values && to === library && !from.startsWith(folder));
    expect(strangers).toEqual([]);
  });

  it.each(['dockerode', 'pino-pretty', '@aws-sdk/client-sts', '@aws-sdk/client-ec2'])(
    'has %s loaded on demand, since many hosts do without',
    (library) => {
      expect(imports.filter(({ to, values }) => values && to === library)).toEqual([]);
    },
  );

  it('has no file above 250 lines, in sources and tests', () => {
    const long = [...sources, ...filesBelow('test')].filter((file) => textOf(file).split('\n').length > 251);
    expect(long).toEqual([]);
  });

  it('has no barrel, and no name that says nothing', () => {
    const vague =
      /(?:^|\/)(?:index|utils?|helpers?|common|misc|shared|core|services?|managers?|types|interfaces)(?:\.ts$|\/)/;
    expect(sources.filter((file) => vague.test(file))).toEqual([]);
  });

  it('has no cycle of value imports', () => {
    const next = new Map<string, string[]>();
    for (const { from, to, values } of imports)
      if (values && to.startsWith('src/')) next.set(from, [...(next.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) return void cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (done.has(file)) return;
      for (const other of next.get(file) ?? []) walk(other, [...path, file]);
      done.add(file);
    };
    for (const file of next.keys()) walk(file, []);
    expect(cycles).toEqual([]);
  });

  it('says Retry-After with every error after which the caller should come again, and no other', async () => {
    const { errorTable } = await import('../../src/errors.js');
    for (const [code, entry] of Object.entries(errorTable)) {
      const again = entry.status === 503 || entry.status === 504 || code === 'busy';
      expect([code, 'retryAfterSeconds' in entry]).toEqual([code, again]);
    }
  });
});
