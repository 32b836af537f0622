import { describe, expect, it } from 'vitest';
import type { Sources } from '../../../src/metrics/sources.js';
import { createMetrics, quietHost, samplesFrom, samplesOf } from './exposition.js';

const unknownLimit: Sources['slots'] = async () => ({
  limit: null,
  limitSource: null,
  limitCause: 'zz9.large is not in the table',
  attached: 2,
  tasks: 1,
  available: null,
});

describe('what is as it is when somebody looks', () => {
  it('is asked for at each scrape', async () => {
    let orphans = 0;
    const metrics = createMetrics({ ...quietHost, orphans: () => orphans });
    expect(await samplesFrom(metrics, 'task_eni_orphans')).toEqual({ task_eni_orphans: 0 });
    orphans = 4;
    expect(await samplesFrom(metrics, 'task_eni_orphans')).toEqual({ task_eni_orphans: 4 });
  });

  it('shows the slots of the host', async () => {
    expect(await samplesFrom(createMetrics(), 'task_eni_eni_')).toEqual({
      task_eni_eni_limit: 3,
      task_eni_eni_attached: 3,
      task_eni_eni_available: 0,
    });
  });

  it('shows the host', async () => {
    expect(await samplesFrom(createMetrics(), 'task_eni_host_info')).toEqual({
      'task_eni_host_info{instance_id="i-0abc",instance_type="m5.large",availability_zone="us-west-2a",limit_source="table"}': 1,
    });
  });

  it('shows every state of tasks and clients, also those that nothing is in', async () => {
    const metrics = createMetrics();
    expect(await samplesFrom(metrics, 'task_eni_tasks')).toEqual({
      'task_eni_tasks{state="PENDING"}': 0,
      'task_eni_tasks{state="ATTACHING"}': 0,
      'task_eni_tasks{state="READY"}': 2,
      'task_eni_tasks{state="DETACHING"}': 0,
      'task_eni_tasks{state="FAILED"}': 1,
      'task_eni_tasks{state="LOST"}': 0,
    });
    expect(await samplesFrom(metrics, 'task_eni_dhcp_clients')).toEqual({
      'task_eni_dhcp_clients{state="starting"}': 1,
      'task_eni_dhcp_clients{state="bound"}': 2,
      'task_eni_dhcp_clients{state="renewing"}': 0,
      'task_eni_dhcp_clients{state="expired"}': 0,
      'task_eni_dhcp_clients{state="failed"}': 0,
    });
  });

  it('shows addresses, the next expiry in seconds, and the build', async () => {
    const samples = await samplesOf(createMetrics());
    expect(samples.get('task_eni_link_local_addresses')).toBe(1021);
    expect(samples.get('task_eni_link_local_addresses_allocated')).toBe(2);
    expect(samples.get('task_eni_credentials_earliest_expiry_timestamp_seconds')).toBe(1_800_000_000.5);
    expect(samples.get(`task_eni_build_info{version="1.2.3",node="${process.version}"}`)).toBe(1);
  });
});

describe('what is not known', () => {
  it('is absent: neither 0 nor -1', async () => {
    const metrics = createMetrics({ ...quietHost, slots: unknownLimit, earliestExpiry: () => null });
    expect(await samplesFrom(metrics, 'task_eni_eni_')).toEqual({ task_eni_eni_attached: 2 });
    expect(await samplesFrom(metrics, 'task_eni_credentials_earliest')).toEqual({});
    expect(Object.keys(await samplesFrom(metrics, 'task_eni_host_info'))[0]).toContain('limit_source="unknown"');
  });

  it('is absent again after it was known', async () => {
    let { slots } = quietHost;
    const metrics = createMetrics({ ...quietHost, slots: () => slots() });
    expect(await samplesFrom(metrics, 'task_eni_eni_limit')).toEqual({ task_eni_eni_limit: 3 });
    slots = unknownLimit;
    expect(await samplesFrom(metrics, 'task_eni_eni_limit')).toEqual({});
  });

  it('costs no other metric', async () => {
    const failing = () => Promise.reject(new Error('the kernel does not answer'));
    const samples = await samplesOf(createMetrics({ ...quietHost, slots: failing }));
    expect(samples.has('task_eni_eni_limit')).toBe(false);
    expect(samples.get('task_eni_orphans')).toBe(1);
  });

  it('is absent before the sources are there', async () => {
    const samples = await samplesOf(createMetrics(null));
    expect(samples.has('task_eni_orphans')).toBe(false);
    expect(samples.has('process_start_time_seconds')).toBe(true);
  });

  it('is not seen by a scrape while another is under way', async () => {
    const metrics = createMetrics();
    const scrapes = await Promise.all(Array.from({ length: 20 }, () => samplesFrom(metrics, 'task_eni_eni_limit')));
    for (const scrape of scrapes) expect(scrape).toEqual({ task_eni_eni_limit: 3 });
  });
});
