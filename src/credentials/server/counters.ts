import { type AnsweredCode, type Report, durationBounds } from './report.js';

/** What the server has done since its last report. */
export class Counters {
  applied = 0;
  probed = 0;
  listening = false;
  private requests: Partial<Record<AnsweredCode, number>> = {};
  private durations = emptyDurations();
  private durationSum = 0;
  private auditDropped = 0;
  private refusedConnections = 0;

  answered(code: AnsweredCode, seconds: number): void {
    this.requests[code] = (this.requests[code] ?? 0) + 1;
    this.durationSum += seconds;
    const bucket = durationBounds.findIndex((bound) => seconds <= bound);
    const index = bucket === -1 ? durationBounds.length : bucket;
    this.durations[index] = (this.durations[index] ?? 0) + 1;
  }

  dropAudit(lines: number): void {
    this.auditDropped += lines;
  }

  refuseConnection(): void {
    this.refusedConnections += 1;
  }

  /** The report so far; the counts start again from zero. */
  take(): Report {
    const { applied, probed, listening, requests, durations, durationSum, auditDropped, refusedConnections } = this;
    this.requests = {};
    this.durations = emptyDurations();
    this.durationSum = 0;
    this.auditDropped = 0;
    this.refusedConnections = 0;
    return { applied, probed, listening, requests, durations, durationSum, auditDropped, refusedConnections };
  }
}

function emptyDurations(): number[] {
  return Array.from({ length: durationBounds.length + 1 }, () => 0);
}
