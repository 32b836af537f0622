import type { AddressPool } from '../addresses/pool.js';
import { TaskEniError } from '../errors.js';
import type { Handler } from './run-plan.js';
import type { TaskContext } from './task-context.js';

/** The planner chose the address and holds it in the pool from that moment; this makes sure that nobody else does. */
export function reserveAddressStep(pool: AddressPool): Handler<'reserve-address', TaskContext> {
  return {
    async do({ address }, { hash }) {
      if (!pool.claim(address, hash)) throw new TaskEniError('step-failed', `${address} is in use by another task`);
    },
    async undo({ address }, { hash }) {
      pool.release(address, hash);
    },
  };
}
