import { createMetrics } from '../unit/metrics/exposition.js';

/** What the service exposes as `# TYPE` lines say, with the suffixes that a histogram's series have. */
export async function knownSeries(): Promise<Set<string>> {
  const text = await createMetrics().registry.metrics();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    types.flatMap(([, name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => `${name}${suffix}`) : [String(name)],
    ),
  );
}

/** The metrics that an expression, or a whole file of them, speaks of; label matchers and quoted text are left out. */
export function seriesIn(text: string): string[] {
  const bare = text.replaceAll(/\{[^}]*\}/g, '').replaceAll(/"[^"]*"/g, '');
  return [...bare.matchAll(/(?<![\w:])(?:task_eni|process|nodejs)_\w+/g)].map(([name]) => name);
}
