/** Upper bounds in seconds. Pure. */

/**
 * An attach takes about 25 ms when the ENI is there and known, some seconds when metadata lags, minutes when EC2 is slow
 * to attach: dense at both ends, and beyond the 180 s that a POST waits.
 */
export const attachBuckets = [
  0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240,
] as const;

export const detachBuckets = [0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120] as const;

/** A step may be a single kernel call, or the whole wait for an ENI. */
export const stepBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20, 30, 60, 90, 120, 180,
] as const;
