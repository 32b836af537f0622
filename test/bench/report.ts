import { heading, say, table } from '../demo/terminal.js';
import type { AttachResult } from './attach.js';
import type { LooksResult } from './looks.js';
import type { Score } from './contest.js';
import type { CredentialsResult } from './credentials.js';
import { type Summary, quantile } from './statistics.js';

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
  heading(`${links} links on the host, ${group[0]?.attach.runs} runs each, milliseconds: best / median / p95`);
  const [floor, plugins] = [group.find(isFloor), group.find(isPlugins)];
  const cell = ({ best, median, p95 }: Summary) => [best, median, p95].map(text).join(' / ');
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
  say(
    'Over floor and of plugins: by the medians. The aims are half of the plugins, and 4 ms over the floor with up to 50 links.',
  );
  const products = group.filter(({ attachSteps }) => Object.keys(attachSteps).length > 0);
  const steps = [...new Set(products.flatMap(({ attachSteps }) => Object.keys(attachSteps)))];
  heading('By step, attach / detach, medians');
  table([
    ['', ...products.map(({ name }) => name.replace('task-eni, ', ''))],
    ...steps.map((step) =>
      [step].concat(
        products.map((score) => `${durationOf(score.attachSteps, step)} / ${durationOf(score.detachSteps, step)}`),
      ),
    ),
  ]);
}

const durationOf = (steps: Score['attachSteps'], step: string) => {
  const summary = steps[step];
  return summary === undefined ? '-' : text(summary.median);
};
const over = (value: number, floor: number | undefined) => (floor === undefined ? '-' : text(value - floor));
const ratio = (value: number, other: number | undefined) => (other === undefined ? '-' : (value / other).toFixed(2));

export function printCredentials({ throughput, cpuRatio, steady, memory }: CredentialsResult): void {
  heading('Fetching credentials from a task, audit log on: medians of the rounds');
  const medianOf = (rounds: readonly { perSecond: number; p50: number; p99: number; cpu: number }[]) =>
    (['perSecond', 'p50', 'p99', 'cpu'] as const).map((key) =>
      text(
        quantile(
          rounds.map((round) => round[key]),
          0.5,
        ),
      ),
    );
  table([
    ['', 'a second', 'p50 ms', 'p99 ms', 'processor ms for 1000'],
    ['credentials server'].concat(medianOf(throughput.credentials)),
    ['smallest node:http server'].concat(medianOf(throughput.smallest)),
    ['ratio', throughput.ratio.toFixed(2), '', '', cpuRatio.toFixed(2)],
  ]);
  heading('At 500 fetches a second');
  table([
    ['', 'p50 ms', 'p99 ms'],
    ['at rest', text(steady.rest.p50), text(steady.rest.p99)],
    [`while ${steady.attaches} tasks were attached`, text(steady.attaching.p50), text(steady.attaching.p99)],
    ['ratio', '', steady.p99Ratio.toFixed(2)],
  ]);
  heading('Memory of the credentials server, MiB');
  const row = (name: string, { rss, pss }: { rss: number; pss: number }) => [name, text(rss / 1024), text(pss / 1024)];
  table([['', 'resident', 'proportional'], row('idle', memory.idle), row('loaded', memory.loaded)]);
}

export function printLooks({ tasks, look, perTask, share, longestHold }: LooksResult): void {
  heading(`Looking after ${tasks} tasks, every three seconds`);
  table([
    ['processor ms a look', 'ms a task', '% of a core', 'longest hold of the event loop, ms'],
    [text(look), perTask.toFixed(3), share.toFixed(2), text(longestHold)],
  ]);
}
