import { Histogram, type HistogramConfiguration } from 'prom-client';

/**
 * A histogram without labels whose observations were made, and sorted into buckets, in another process: what is reported
 * is added up, so that buckets, sum and count are exact. prom-client's own can only observe single values.
 */
export class ReportedHistogram extends Histogram {
  private readonly counts: number[];
  private total = 0;

  constructor(
    private readonly configuration: HistogramConfiguration<string>,
    private readonly bounds: readonly number[],
  ) {
    super({ ...configuration, buckets: [...bounds] });
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** `counts`: observations in each bucket, not cumulative, the last for what is above all bounds; `sum`: of their values. */
  add(counts: readonly number[], sum: number): void {
    if (counts.length !== this.counts.length)
      throw new RangeError(`${this.configuration.name} has ${this.counts.length} buckets, not ${counts.length}`);
    for (const [index, count] of counts.entries()) this.counts[index] = (this.counts[index] ?? 0) + count;
    this.total += sum;
  }

  /** Where both get() and the text format take the samples from; prom-client's declarations leave it out. */
  async getForPromString() {
    const { name, help } = this.configuration;
    return { name, help, type: 'histogram', aggregator: 'sum', values: this.samples(name) };
  }

  private samples(name: string) {
    let count = 0;
    const buckets = this.counts.map((inBucket, index) => {
      count += inBucket;
      return sample(`${name}_bucket`, count, { le: this.bounds[index] ?? '+Inf' });
    });
    return [...buckets, sample(`${name}_sum`, this.total), sample(`${name}_count`, count)];
  }
}

function sample(metricName: string, value: number, labels: { le?: string | number } = {}) {
  return { metricName, value, labels, sharedLabels: {} };
}
