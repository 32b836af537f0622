/** Networks as a person reads them in a terminal. Pure. */
import type { NetworkDto } from '../api/network.dto.js';

const headings = ['TASK', 'STATE', 'AGE', 'ENI', 'INTERFACE', 'ADDRESS', 'LINK-LOCAL', 'NETWORK', 'ATTACHED IN'];
/** Columns that are shown in any terminal. */
const fewest = 3;

/**
 * A line a task, in the order in which they came; `now` in milliseconds since the epoch. Where the terminal has fewer than
 * the `width` of the table, the last columns are left out.
 */
export function taskTable(tasks: readonly NetworkDto[], now: number, width = Infinity): string {
  if (tasks.length === 0) return 'No task has a network.\n';
  const ordered = [...tasks].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  const rows = [headings, ...ordered.map((task) => tableRow(task, now))];
  for (let shown = headings.length; shown > fewest; shown -= 1) {
    const table = columns(rows.map((row) => row.slice(0, shown)));
    if (table.split('\n').every((line) => line.length <= width)) return table;
  }
  return columns(rows.map((row) => row.slice(0, fewest)));
}

function tableRow(task: NetworkDto, now: number): string[] {
  const { eni } = task;
  return [
    task.taskId,
    task.state,
    ageText(now - Date.parse(task.createdAt)),
    eni.id ?? eni.macAddress ?? '-',
    interfaceText(task),
    eni.ipv4Address ?? eni.ipv6Address ?? '-',
    task.linkLocal?.ipv4Address ?? '-',
    shortNetwork(task.networkMode),
    durationText(task.attachMs),
  ];
}

const home: ReadonlySet<NetworkDto['state']> = new Set(['FAILED', 'LOST', 'DETACHED']);

/** The ENI's name where it is. In a task it is another one than before, on the host. */
function interfaceText({ state, eni }: NetworkDto): string {
  if (eni.hostInterface === null) return eni.interface ?? '-';
  return home.has(state) ? `${eni.hostInterface} on host` : `${eni.interface ?? '-'} (was ${eni.hostInterface})`;
}

/** A container's id as `docker ps` shows it. */
function shortNetwork(networkMode: string | null): string {
  return networkMode?.replace(/^(container:[0-9a-f]{12})[0-9a-f]+$/, '$1') ?? '-';
}

/** Everything of one task. */
export function networkText(network: NetworkDto): string {
  const { eni, linkLocal, sandbox, lease, credentials, error } = network;
  const labels = Object.entries(network.labels).map(([key, value]) => `${key}=${value}`);
  const environment = Object.entries(network.environment).map(([key, value]) => `${key}=${value}`);
  const facts: [string, ...(string | number | null | undefined)[]][] = [
    ['task', network.taskId],
    ['state', network.state],
    ['error', error && `${error.code}: ${error.detail}`],
    ['network', network.networkMode],
    ['sandbox', sandbox && `${sandbox.kind}, ${sandbox.owned ? 'made by the service' : "the caller's"}`],
    ['ENI', eni.id, eni.macAddress],
    ['interface', eni.interface && interfaceText(network), eni.mtu && `MTU ${eni.mtu}`],
    ['IPv4', eni.ipv4Address, eni.ipv4Gateway && `via ${eni.ipv4Gateway}`],
    ['IPv6', eni.ipv6Address, eni.ipv6Gateway && `via ${eni.ipv6Gateway}`],
    ['link-local', linkLocal?.ipv4Address, linkLocal && `by ${linkLocal.hostInterface} on ${linkLocal.bridge}`],
    [
      'lease',
      `${lease.state}${lease.client === null ? '' : ` (${lease.client})`}`,
      lease.expiresAt && `until ${lease.expiresAt}`,
    ],
    [
      'credentials',
      credentials?.source,
      credentials?.roleArn,
      credentials?.expiration && `until ${credentials.expiration}`,
    ],
    ['labels', ...labels],
    ['environment', ...environment],
    ['attached in', durationText(network.attachMs)],
  ];
  const lines = facts.map(([name, ...values]) => [name, values.filter(Boolean).join('  ')]);
  const warnings = network.warnings.map((warning) => ['warning', warning]);
  const steps = network.steps.map(({ name, state, durationMs }) => [name, state, durationText(durationMs)]);
  return `${columns([...lines.filter(([, value]) => value), ...warnings])}\n${columns([['STEP', 'STATE', 'TIME'], ...steps])}`;
}

/** Cells under each other; what is not printable could drive the terminal, so it is replaced. */
export function columns(rows: readonly (readonly (string | undefined)[])[]): string {
  const clean = rows.map((row) => row.map((cell = '') => cell.replace(/\p{C}/gu, '?')));
  const widths = clean.reduce<number[]>((widest, row) => {
    row.forEach((cell, index) => (widest[index] = Math.max(widest[index] ?? 0, cell.length)));
    return widest;
  }, []);
  return clean
    .map(
      (row) =>
        `${row
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function durationText(milliseconds: number | null): string {
  if (milliseconds === null) return '-';
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** In one unit, as `kubectl get` has it in its column AGE. */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
