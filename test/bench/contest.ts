/** Attaches and detaches by several contestants in turn, so that whatever else the machine does meets all of them alike. */
import type { Contestant, Timing } from './contestant.js';
import { type Summary, summarise } from './statistics.js';

export interface Score {
  readonly name: string;
  readonly links: number;
  readonly attach: Summary;
  readonly detach: Summary;
  readonly attachSteps: Readonly<Record<string, Summary>>;
  readonly detachSteps: Readonly<Record<string, Summary>>;
}

interface Run {
  readonly attach: Timing;
  readonly detach: Timing;
}

/** `links`: how many the host has, to be told in the score. */
export async function contest(contestants: readonly Contestant[], links: number, runs: number): Promise<Score[]> {
  const all = new Map(contestants.map((contestant) => [contestant, [] as Run[]]));
  // The first round warms up caches, compilers and the page cache, and does not count.
  for (let round = 0; round <= runs; round++) {
    const order = contestants.map((_, n) => contestants[(n + round) % contestants.length] as Contestant);
    for (const contestant of order) {
      const run = { attach: await contestant.attach(), detach: await contestant.detach() };
      if (round > 0) all.get(contestant)?.push(run);
    }
  }
  return contestants.map((contestant) => score(contestant.name, links, all.get(contestant) ?? []));
}

function score(name: string, links: number, runs: readonly Run[]): Score {
  const [attaches, detaches] = [runs.map(({ attach }) => attach), runs.map(({ detach }) => detach)];
  return {
    name,
    links,
    attach: summarise(attaches.map(({ total }) => total)),
    detach: summarise(detaches.map(({ total }) => total)),
    attachSteps: stepsOf(attaches),
    detachSteps: stepsOf(detaches),
  };
}

function stepsOf(timings: readonly Timing[]): Record<string, Summary> {
  const names = Object.keys(timings[0]?.steps ?? {});
  return Object.fromEntries(names.map((name) => [name, summarise(timings.map(({ steps }) => steps[name] ?? 0))]));
}
