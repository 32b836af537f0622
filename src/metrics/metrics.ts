import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Logger } from 'pino';
import type { Decision } from '../attachments/reconcile.js';
import { type Report, answeredCodes, durationBounds } from '../credentials/server/report.js';
import type { ErrorCode } from '../errors.js';
import type { StepKind, StepState, WaitKind } from '../steps/step.js';
import { attachBuckets, detachBuckets, stepBuckets } from './buckets.js';
import { registerLiveGauges } from './live-gauges.js';
import { processMetrics } from './process-metrics.js';
import { ReportedHistogram } from './reported-histogram.js';
import type { Sources } from './sources.js';

/** What an attach can end with other than a network; each is there as 0 from the start, so that the first one is an increase. */
const failureCodes = [
  'primary-eni',
  'eni-in-use',
  'sandbox-in-use',
  'unusable-eni',
  'unusable-sandbox',
  'eni-timeout',
  'metadata-timeout',
  'address-pool-exhausted',
  'docker-unavailable',
  'credentials-refused',
  'credentials-timeout',
  'step-failed',
  'internal',
  'cancelled',
  'shutting-down',
] as const satisfies ErrorCode[];

/** Ends that the caller wanted: not failures of the service. */
const wanted = new Set<ErrorCode>(['cancelled', 'shutting-down']);

const undoableSteps = [
  'reserve-address',
  'prepare-sandbox',
  'clear-host-config',
  'connect-bridge',
  'move-eni',
  'configure-eni',
  'register-credentials',
  'start-dhcp',
] as const satisfies StepKind[];

/** What reconciling does to a record, and `remove-stray` for what no record knows. */
export type ReconcileAction = Exclude<Decision, 'keep'> | 'remove-stray';
const reconcileActions = [
  'adopt',
  'undo',
  'finish-detach',
  'release',
  'set-aside',
  'retry-undo',
  'remove-stray',
] as const satisfies ReconcileAction[];

/**
 * Every metric of the service, in a registry of its own. Events are told by the methods; what is as it is when somebody
 * looks comes from the sources at each scrape. No label is taken from a caller, so the number of series is bounded.
 */
export class Metrics {
  /** With the figures of the process, which all instances share. */
  readonly registry: Registry = Registry.merge([processMetrics()]);

  private sources: Sources | undefined;

  private readonly attachDuration = this.histogram(
    'attach_duration_seconds',
    'From the request to READY or to the end of the undoing, waiting for the ENI and its metadata included.',
    ['outcome'],
    attachBuckets,
  );
  private readonly detachDuration = this.histogram(
    'detach_duration_seconds',
    'From the request to the answer.',
    ['outcome'],
    detachBuckets,
  );
  private readonly stepDuration = this.histogram(
    'step_duration_seconds',
    'Steps of attaches (done, failed) and of their undoing and detaches (undone, failed).',
    ['step', 'outcome'],
    stepBuckets,
  );
  private readonly attachFailures = this.counter(
    'attach_failures_total',
    'Attaches that did not end in READY, by the code of their error.',
    'code',
    failureCodes,
  );
  private readonly undoFailures = this.counter(
    'undo_failures_total',
    'Steps that could not be undone, and are tried again.',
    'step',
    undoableSteps,
  );
  private readonly credentialsRequests = this.counter(
    'credentials_requests_total',
    'Requests to the credentials endpoint by the HTTP status of their answer.',
    'code',
    answeredCodes,
  );
  private readonly credentialsDuration = new ReportedHistogram(
    {
      name: 'task_eni_credentials_request_duration_seconds',
      help: 'Requests to the credentials endpoint, inside its process.',
      registers: [this.registry],
    },
    durationBounds,
  );
  private readonly credentialsConnectionsRefused = this.plainCounter(
    'credentials_connections_refused_total',
    'Connections to the credentials endpoint that were closed because their task, or all together, had too many.',
  );
  private readonly credentialsAuditLinesLost = this.plainCounter(
    'credentials_audit_lines_lost_total',
    'Requests to the credentials endpoint whose line the audit log lacks: its disk is full or slow.',
  );
  private readonly credentialsRefresh = this.counter(
    'credentials_refresh_total',
    'Fetches of credentials from STS.',
    'outcome',
    ['success', 'failure'],
  );
  private readonly reconcileActions = this.counter(
    'reconcile_actions_total',
    'What was done because records and host differed.',
    'action',
    reconcileActions,
  );

  private readonly dhcpMismatches = this.plainCounter(
    'dhcp_mismatches_total',
    "Leases of an address that is not the ENI's; the address stays as it is.",
  );

  constructor(version: string, logger: Logger) {
    for (const outcome of ['success', 'failure', 'cancelled']) this.attachDuration.zero({ outcome });
    for (const outcome of ['success', 'failure']) this.detachDuration.zero({ outcome });
    registerLiveGauges(this.registry, () => this.sources, logger);
    new Gauge({
      name: 'task_eni_build_info',
      help: 'The version of the service and of Node.',
      labelNames: ['version', 'node'],
      registers: [this.registry],
    }).set({ version, node: process.version }, 1);
  }

  /** Until they are set, the gauges that need them are absent. */
  setSources(sources: Sources): void {
    this.sources = sources;
  }

  /** `code` is null for an attach that ended in READY. */
  attachEnded(code: ErrorCode | null, seconds: number): void {
    const outcome = code === null ? 'success' : wanted.has(code) ? 'cancelled' : 'failure';
    this.attachDuration.observe({ outcome }, seconds);
    if (code !== null) this.attachFailures.inc({ code });
  }

  /** `complete`: nothing is left that could not be undone. */
  detachEnded(complete: boolean, seconds: number): void {
    this.detachDuration.observe({ outcome: complete ? 'success' : 'failure' }, seconds);
  }

  stepEnded(
    step: StepKind | WaitKind,
    outcome: Extract<StepState, 'done' | 'failed' | 'undone'>,
    seconds: number,
  ): void {
    this.stepDuration.observe({ step, outcome }, seconds);
  }

  undoFailed(step: StepKind): void {
    this.undoFailures.inc({ step });
  }

  credentialsReported(report: Omit<Report, 'applied' | 'probed' | 'listening'>): void {
    for (const [code, count] of Object.entries(report.requests)) this.credentialsRequests.inc({ code }, count);
    this.credentialsDuration.add(report.durations, report.durationSum);
    this.credentialsConnectionsRefused.inc(report.refusedConnections);
    this.credentialsAuditLinesLost.inc(report.auditDropped);
  }

  credentialsRefreshed(succeeded: boolean): void {
    this.credentialsRefresh.inc({ outcome: succeeded ? 'success' : 'failure' });
  }

  dhcpMismatched(): void {
    this.dhcpMismatches.inc();
  }

  reconciled(action: ReconcileAction): void {
    this.reconcileActions.inc({ action });
  }

  private histogram<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[],
  ) {
    return new Histogram<L>({
      name: `task_eni_${name}`,
      help,
      labelNames: [...labelNames],
      buckets: [...buckets],
      registers: [this.registry],
    });
  }

  private plainCounter(name: string, help: string) {
    return new Counter({ name: `task_eni_${name}`, help, registers: [this.registry] });
  }

  private counter<L extends string>(name: string, help: string, label: L, values: readonly (string | number)[]) {
    const counter = new Counter<L>({ name: `task_eni_${name}`, help, labelNames: [label], registers: [this.registry] });
    for (const value of values) counter.inc({ [label]: String(value) } as Record<L, string>, 0);
    return counter;
  }
}
