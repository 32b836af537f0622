import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../environment-reader.js';
import { SettingsError } from '../settings.js';

/** Where the Docker engine listens. */
export type DockerAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** Folder with ca.pem, cert.pem and key.pem; null for plain HTTP. */
      readonly certificates: string | null;
    };

export const defaultDockerSocket = '/var/run/docker.sock';

/**
 * Reads DOCKER_HOST as the docker command does: `unix://path`, `tcp://host[:port]`, or the latter without its scheme.
 * DOCKER_TLS_VERIFY (set to anything) turns TLS on, with the files in DOCKER_CERT_PATH, else ~/.docker; the port is then
 * 2376 instead of 2375 (docs.docker.com, "Protect the Docker daemon socket"). Throws {@link SettingsError}.
 */
export function parseDockerHost(text: string | null, environment: Environment): DockerAddress {
  if (text === null) return { kind: 'unix', path: defaultDockerSocket };
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/s.exec(text) ?? [];
  switch (scheme) {
    case 'unix':
      if (!rest.startsWith('/')) return refuse(text, 'a unix:// address names the absolute path of a socket');
      return { kind: 'unix', path: rest };
    case 'tcp':
    case 'http':
    case 'https':
      return parseTcp(text, rest, scheme === 'https', environment);
    case 'ssh':
      return refuse(
        text,
        'an engine on another host cannot hold the namespaces of this one, so ssh:// is of no use here',
      );
    default:
      return refuse(text, 'neither unix:// nor tcp://');
  }
}

function parseTcp(text: string, rest: string, https: boolean, environment: Environment): DockerAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:/?#@\s]+))(?::(\d{1,5}))?\/?$/.exec(rest);
  const host = match?.[1] ?? match?.[2];
  const tls = https || Boolean(environment['DOCKER_TLS_VERIFY']);
  const port = match?.[3] === undefined ? (tls ? 2376 : 2375) : Number(match[3]);
  if (host === undefined || port < 1 || port > 65535) return refuse(text, 'not host:port');
  const certificates = environment['DOCKER_CERT_PATH'] || join(homedir(), '.docker');
  return { kind: 'tcp', host, port, certificates: tls ? certificates : null };
}

function refuse(text: string, reason: string): never {
  throw new SettingsError([`DOCKER_HOST: ${JSON.stringify(text)} is no address of a Docker engine: ${reason}`]);
}

/** The address as DOCKER_HOST would have it. */
export function formatDockerAddress(address: DockerAddress): string {
  if (address.kind === 'unix') return `unix://${address.path}`;
  return `tcp://${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}
