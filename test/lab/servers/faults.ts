/** What can be wrong with instance metadata, for a path, for a while. */

export interface Fault {
  /** `not-found` answers 404, `error` 500, `hang` never, `delay` after `milliseconds`, `garbage` with a page of HTML, `empty` with an empty 200. */
  readonly kind: 'not-found' | 'error' | 'hang' | 'delay' | 'garbage' | 'empty' | 'unauthorized';
  /** Only paths of this interface. */
  readonly mac?: string;
  /** Only this key: the path's last part or parts, e.g. `ipv6s`, `placement/region`, or `api/token`. */
  readonly key?: string;
  /** How long the fault lasts, in ms from now; for ever when absent. */
  readonly forMilliseconds?: number;
  /** Only so many requests are hit. */
  readonly times?: number;
  /** The length of a `delay`. */
  readonly milliseconds?: number;
}

interface ActiveFault extends Fault {
  readonly id: number;
  readonly until: number;
  left: number;
}

export class Faults {
  private active: ActiveFault[] = [];
  private lastId = 0;

  add(fault: Fault): number {
    const id = ++this.lastId;
    const until = fault.forMilliseconds === undefined ? Infinity : Date.now() + fault.forMilliseconds;
    this.active.push({ ...fault, id, until, left: fault.times ?? Infinity });
    return id;
  }

  /** Ends one fault, or all. */
  remove(id: number | null): void {
    this.active = id === null ? [] : this.active.filter((fault) => fault.id !== id);
  }

  /** The first fault that hits a request for `path` now, counted. */
  hit(path: string): Fault | undefined {
    const now = Date.now();
    this.active = this.active.filter((fault) => fault.until > now && fault.left > 0);
    const fault = this.active.find((each) => matches(each, path.replace(/\/+$/, '')));
    if (fault !== undefined) fault.left--;
    return fault;
  }
}

function matches(fault: Fault, path: string): boolean {
  // A token can be had even while none is honoured.
  if (fault.kind === 'unauthorized' && path === 'api/token') return false;
  if (fault.mac !== undefined && !path.includes(`/macs/${fault.mac.toLowerCase()}`)) return false;
  return fault.key === undefined || `/${path}`.endsWith(`/${fault.key}`);
}
