import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DnsRequest } from '../attachments/request.js';
import { makeFolder } from '../kernel/folder.js';

/** ip-netns(8): files in /etc/netns/<name>/ stand in for those in /etc for whatever `ip netns exec` starts. */
export const resolverFolder = '/etc/netns';

export interface ResolverFile {
  readonly name: 'resolv.conf' | 'hosts' | 'hostname';
  readonly content: string;
}

/** The files that a namespace needs; what the request leaves out stays the host's. `hosts` are `host:address` each. Pure. */
export function resolverFiles(dns: DnsRequest, hosts: readonly string[]): ResolverFile[] {
  const resolver = [
    ...(dns.search.length === 0 ? [] : [`search ${dns.search.join(' ')}`]),
    ...dns.servers.map((server) => `nameserver ${server}`),
  ];
  const files: ResolverFile[] = [];
  if (resolver.length > 0) files.push({ name: 'resolv.conf', content: lines(resolver) });
  if (hosts.length > 0) files.push({ name: 'hosts', content: lines([...loopback, ...hosts.map(hostsLine)]) });
  if (dns.hostname !== null) files.push({ name: 'hostname', content: lines([dns.hostname]) });
  return files;
}

const loopback = ['127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost ip6-loopback'];

function hostsLine(entry: string): string {
  // An IPv6 address has colons of its own; a host name has none.
  const colon = entry.indexOf(':');
  return `${entry.slice(colon + 1)}\t${entry.slice(0, colon)}`;
}

function lines(content: readonly string[]): string {
  return content.map((line) => `${line}\n`).join('');
}

/** Puts exactly these files into the namespace's folder; without any there is no folder. */
export async function writeResolverFiles(name: string, files: readonly ResolverFile[]): Promise<void> {
  await removeResolverFiles(name);
  if (files.length === 0) return;
  const folder = join(resolverFolder, name);
  // Read by whoever runs in the namespace, so whatever the umask.
  for (const each of [resolverFolder, folder]) makeFolder(each, 0o755);
  for (const file of files) {
    const path = join(folder, file.name);
    await writeFile(path, file.content);
    await chmod(path, 0o644);
  }
}

/** Absent is fine. */
export async function removeResolverFiles(name: string): Promise<void> {
  await rm(join(resolverFolder, name), { recursive: true, force: true });
}
