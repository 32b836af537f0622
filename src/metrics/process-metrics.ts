import { Registry, collectDefaultMetrics } from 'prom-client';

/** Gauges that end in _total, which only counters may; each is the sum of one that is there without it. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let registry: Registry | undefined;

/**
 * prom-client's figures of the process and of Node. They belong to the process, not to an application in it, and their
 * monitors of event loop and garbage collection cannot be stopped: so there is one set, whoever asks.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
    for (const name of misnamed) registry.removeSingleMetric(name);
  }
  return registry;
}
