/** Of a number of measurements; milliseconds unless said otherwise. */
export interface Summary {
  /** The quickest: what the work takes when nothing else disturbs it. */
  readonly best: number;
  readonly median: number;
  readonly p95: number;
  readonly runs: number;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export function summarise(values: readonly number[]): Summary {
  const best = round(quantile(values, 0));
  return { best, median: round(quantile(values, 0.5)), p95: round(quantile(values, 0.95)), runs: values.length };
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
