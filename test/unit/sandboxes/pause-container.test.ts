import { describe, expect, it } from 'vitest';
import type { TaskId } from '../../../src/attachments/task-id.js';
import { type Container, joins, requireOwnNamespace } from '../../../src/sandboxes/container.js';
import { isConfiguredAs, isPauseOf, pauseContainerOptions } from '../../../src/sandboxes/pause-container.js';

const id = '4f1c'.repeat(16);
const task = 'web-1' as TaskId;
const dns = { servers: ['172.31.0.2'], search: ['ec2.internal'], hostname: 'ip-172-31-13-14' };
const hosts = ['ip-172-31-13-14:172.31.13.14'];
const request = { name: 'te-abc', taskId: task, image: 'pause:1', dns, hosts };

const container: Container = {
  id,
  name: 'te-abc',
  running: true,
  pid: 4711,
  sandboxKey: '/var/run/docker/netns/1',
  networkMode: 'none',
  labels: { 'task-eni.instance': 'te', 'task-eni.task': 'web-1' },
  hostname: 'ip-172-31-13-14',
  dnsServers: ['172.31.0.2'],
  dnsSearch: ['ec2.internal'],
  extraHosts: hosts,
};

describe('a pause container', () => {
  it('has no network, no capability and no way to gain any, and says whose it is', () => {
    expect(pauseContainerOptions(request, 'te')).toMatchObject({
      Image: 'pause:1',
      Hostname: 'ip-172-31-13-14',
      Labels: { 'task-eni.instance': 'te', 'task-eni.task': 'web-1' },
      HostConfig: {
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        ReadonlyRootfs: true,
        RestartPolicy: { Name: 'no' },
        Dns: ['172.31.0.2'],
        DnsSearch: ['ec2.internal'],
        ExtraHosts: ['ip-172-31-13-14:172.31.13.14'],
      },
    });
  });

  it('keeps the host name that Docker gives when none is asked for', () => {
    const options = pauseContainerOptions({ ...request, dns: null, hosts: [] }, 'te');
    expect(options).not.toHaveProperty('Hostname');
    expect(options.HostConfig).toMatchObject({ Dns: [], DnsSearch: [], ExtraHosts: [] });
  });

  it('belongs to one instance and one task', () => {
    expect(isPauseOf(container, 'te', task)).toBe(true);
    expect(isPauseOf(container, 'other', task)).toBe(false);
    expect(isPauseOf(container, 'te', 'web-2' as TaskId)).toBe(false);
    expect(isPauseOf({ labels: {} }, 'te', task)).toBe(false);
  });

  it.each([
    ['itself', container, true],
    ['other servers', { ...container, dnsServers: [] }, false],
    ['another search list', { ...container, dnsSearch: ['a', 'b'] }, false],
    ['other hosts', { ...container, extraHosts: [] }, false],
    ['another host name', { ...container, hostname: id.slice(0, 12) }, false],
  ])('is as asked for when it resolves names alike: %s', (_what, found, same) => {
    expect(isConfiguredAs(found, request)).toBe(same);
  });

  it("is as asked for without DNS when it has Docker's own host name", () => {
    const bare = { ...container, hostname: id.slice(0, 12), dnsServers: [], dnsSearch: [], extraHosts: [] };
    expect(isConfiguredAs(bare, { ...request, dns: null, hosts: [] })).toBe(true);
  });
});

describe("a caller's container", () => {
  it('is usable while it runs with a namespace of its own', () => {
    expect(() => requireOwnNamespace(container)).not.toThrow();
    expect(() => requireOwnNamespace({ ...container, networkMode: 'bridge' })).not.toThrow();
  });

  it.each([
    [{ networkMode: 'host' }, "the container te-abc is in the host's network namespace"],
    [{ networkMode: `container:${id}` }, `is in the network namespace of the container ${id}`],
    [{ running: false, pid: 0 }, 'the container te-abc is not running'],
    [{ running: true, pid: 0 }, 'is not running'],
  ])('is refused with %o', (change, sentence) => {
    expect(() => requireOwnNamespace({ ...container, ...change })).toThrow(
      expect.objectContaining({ code: 'unusable-sandbox', detail: expect.stringContaining(sentence) }),
    );
  });

  it.each([
    [`container:${id}`, true],
    ['container:te-abc', true],
    [`container:${id.slice(0, 12)}`, true],
    [`container:${id.slice(0, 4)}`, false],
    [`container:${'5'.repeat(64)}`, false],
    ['none', false],
    ['', false],
  ])('is joined by a container whose network mode is %s: %s', (mode, joined) => {
    expect(joins(mode, container)).toBe(joined);
  });
});
