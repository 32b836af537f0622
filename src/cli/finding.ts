/** What doctor finds, and how it is told. Pure. */
export interface Finding {
  /** `fail`: serving would fail, or no task could get a network. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly name: string;
  readonly detail: string;
  /** How to mend it; null when nothing is to be done. */
  readonly advice: string | null;
}

export function ok(name: string, detail: string): Finding {
  return { status: 'ok', name, detail, advice: null };
}

export function warn(name: string, detail: string, advice: string): Finding {
  return { status: 'warn', name, detail, advice };
}

export function fail(name: string, detail: string, advice: string): Finding {
  return { status: 'fail', name, detail, advice };
}

/** A line a finding, its advice below it, and what follows from them all. */
export function findingsText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(({ status, name, detail, advice }) => {
    const line = `${status.padEnd(4)}  ${name.padEnd(width)}  ${detail}\n`;
    return advice === null ? line : `${line}${' '.repeat(width + 8)}-> ${advice}\n`;
  });
  return `${lines.join('')}\n${verdict(findings)}\n`;
}

function verdict(findings: readonly Finding[]): string {
  const failed = findings.filter(({ status }) => status === 'fail').length;
  const warned = findings.filter(({ status }) => status === 'warn').length;
  const warnings = warned === 0 ? '' : `, ${warned} warning${warned === 1 ? '' : 's'}`;
  return failed === 0
    ? `This host can run task-eni${warnings}.`
    : `This host cannot run task-eni: ${failed} failed${warnings}.`;
}
