import { heading, say, table } from '../demo/terminal.js';
import type { AttachResult } from './attach.js';
import type { Score } from './contest.js';
import type { CredentialsResult } from './credentials.js';

const text = (value: number) => value.toFixed(1);
const isFloor = ({ name }: Score) => name.startsWith('floor');
const isPlugins = ({ name }: Score) => name.startsWith('CNI');

export function printAttach({ scores, missing }: AttachResult): void {
  for (const links of new Set(scores.map((score) => score.links))) {
    const group = scores.filter((score) => score.links === links);
    printGroup(group, links);
  }
  for (const what of missing) say(`Not measured: ${what}`);
}

function printGroup(group: readonly Score[], links: number): void {
  heading(`${links} links on the host, ${group[0]?.attach.runs} runs each, milliseconds: median (p95)`);
  const [floor, plugins] = [group.find(isFloor), group.find(isPlugins)];
  const cell = ({ median, p95 }: { median: number; p95: number }) => `${text(median)} (${text(p95)})`;
  table([
    ['', 'attach', 'over floor', 'of plugins', 'detach', 'over floor', 'of plugins'],
    ...group.map((score) => [
      score.name,
      cell(score.attach),
      over(score.attach.median, floor?.attach.median),
      ratio(score.attach.median, plugins?.attach.median),
      cell(score.detach),
      over(score.detach.median, floor?.detach.median),
      ratio(score.detach.median, plugins?.detach.median),
    ]),
  ]);
  const products = group.filter(({ attachSteps }) => Object.keys(attachSteps).length > 0);
  const steps = [...new Set(products.flatMap(({ attachSteps }) => Object.keys(attachSteps)))];
  heading('by step, attach / detach');
  table([
    ['', ...products.map(({ name }) => name.replace('task-eni, ', ''))],
    ...steps.map((step) =>
      [step].concat(
        products.map(
          (score) => `${text(score.attachSteps[step]?.median ?? 0)} / ${text(score.detachSteps[step]?.median ?? 0)}`,
        ),
      ),
    ),
  ]);
}

const over = (value: number, floor: number | undefined) => (floor === undefined ? '-' : text(value - floor));
const ratio = (value: number, other: number | undefined) => (other === undefined ? '-' : (value / other).toFixed(2));

export function printCredentials(result: CredentialsResult): void {
  const { closed, open, memory } = result;
  heading('Fetching credentials from a task, audit log on');
  table([
    ['', 'a second', 'p50 ms', 'p99 ms'],
    ...closed.map(({ name, perSecond, p50, p99 }) => [name, perSecond.toFixed(0), p50.toFixed(2), p99.toFixed(2)]),
  ]);
  say(`The server reaches ${result.ofSmallest.toFixed(2)} of the smallest server's throughput.`);
  heading(`At a fixed rate of ${result.rate} a second`);
  table([
    ['', 'p50 ms', 'p99 ms', 'answers'],
    ...open.map(({ name, p50, p99, codes }) => [name, p50.toFixed(2), p99.toFixed(2), JSON.stringify(codes)]),
  ]);
  say(`While ${result.attaches} attaches ran, p99 was ${result.underAttaches.toFixed(2)} of that at rest.`);
  heading('Memory of the credentials server, MiB');
  table([['', 'resident', 'proportional'], ...memory.map(({ name, rss, pss }) => [name, text(rss), text(pss)])]);
}
