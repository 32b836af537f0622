/** What the API is given besides classes. */
import type { HostReportDto } from './host.dto.js';

export const SETTINGS = Symbol('settings');
export const LOGGER = Symbol('logger');
/** A {@link HostReport}. */
export const HOST_REPORT = Symbol('host report');
/** A list of {@link ReadinessCheck}. */
export const READINESS = Symbol('readiness');

/** Collects what GET /host tells. */
export type HostReport = () => Promise<HostReportDto>;

/** A part without which the service cannot do its work; `check` rejects with the reason. */
export interface ReadinessCheck {
  readonly name: string;
  readonly check: () => Promise<void>;
}
