import { readdir } from 'node:fs/promises';
import type { DnsRequest } from '../attachments/request.js';
import { KernelError, isErrno } from '../kernel/errno.js';
import { NotANamespaceError, openNamespace } from '../kernel/namespaces.js';
import { isPinned, pinNamespace, pinPath, pinnedNames, unpinNamespace } from '../kernel/pins.js';
import { occupants } from './occupants.js';
import { removeResolverFiles, resolverFiles, resolverFolder, writeResolverFiles } from './resolver-files.js';
import { type Sandbox, sandboxOf } from './sandbox.js';

export interface BareRequest {
  readonly name: string;
  readonly dns: DnsRequest | null;
  /** `host:address` each. */
  readonly hosts: readonly string[];
}

/** A namespace, or what a reboot left of one, that bears this instance's name. */
export interface BareNamespace {
  readonly name: string;
  readonly hash: string;
  /** False when only its files are left. */
  readonly pinned: boolean;
}

/** Namespaces that nothing but their name under /run/netns holds open, for hosts without Docker. */
export class BareSandboxes {
  constructor(private readonly instance: string) {}

  /** The namespace under that name, made when there is none, with its resolver files as asked for. */
  async create({ name, dns, hosts }: BareRequest): Promise<Sandbox> {
    await writeResolverFiles(name, dns === null ? [] : resolverFiles(dns, hosts));
    return sandboxOf(await pinNamespace(name), { kind: 'netns', owned: true, containerId: null, pid: null });
  }

  /** Takes the name and the files away; what runs inside keeps the namespace until it ends. False when there was no name. */
  async remove(name: string): Promise<boolean> {
    try {
      return await unpinNamespace(name);
    } finally {
      await removeResolverFiles(name);
    }
  }

  /** All of this instance's, `<instance>-<20 hex digits>`. */
  async list(): Promise<BareNamespace[]> {
    return [...(await this.named())].map(([name, hash]) => ({ name, hash, pinned: isPinned(name) }));
  }

  /** The hash by the name of each, without a look at what they are. */
  async named(): Promise<Map<string, string>> {
    const names = [...pinnedNames(), ...(await resolverFolders())];
    return new Map(
      names.flatMap((name): [string, string][] => {
        const hash = this.hashOf(name);
        return hash === undefined ? [] : [[name, hash]];
      }),
    );
  }

  /** Pids of the processes inside; empty when there is no such namespace. */
  async occupants(name: string): Promise<number[]> {
    try {
      const namespace = openNamespace(pinPath(name));
      return await occupants(namespace).finally(() => namespace.close());
    } catch (error) {
      if (isErrno(error, 'ENOENT') || error instanceof NotANamespaceError) return [];
      throw error;
    }
  }

  private hashOf(name: string): string | undefined {
    const prefix = `${this.instance}-`;
    const rest = name.slice(prefix.length);
    return name.startsWith(prefix) && /^[0-9a-f]{20}$/.test(rest) ? rest : undefined;
  }
}

async function resolverFolders(): Promise<string[]> {
  try {
    return await readdir(resolverFolder);
  } catch (error) {
    const failure = KernelError.fromFileSystem(error, `list ${resolverFolder}`);
    if (failure.errno === 'ENOENT') return [];
    throw failure;
  }
}
