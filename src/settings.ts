import {
  type Ipv4,
  type Ipv4Cidr,
  firstUsable,
  formatCidr,
  parseIpv4,
  parseIpv4Cidr,
  subnetOf,
} from './addresses/cidr.js';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | null;
}

/** Everything that can be set, parsed once at start. */
export interface Settings {
  readonly apiAddress: ListenAddress | null;
  readonly apiSocket: string | null;
  readonly apiSocketGroup: string | null;
  readonly apiTokenFile: string;
  readonly apiTls: TlsFiles | null;
  readonly metricsAddress: ListenAddress | null;
  readonly stateDir: string;
  readonly runDir: string;
  readonly sandbox: 'auto' | 'docker' | 'netns';
  readonly dockerHost: string | null;
  readonly pauseImage: string;
  readonly bridge: string;
  /** The subnet with its host part cleared. */
  readonly bridgeSubnet: Ipv4Cidr;
  /** The bridge's own address: the subnet's first usable one. */
  readonly bridgeAddress: Ipv4;
  /** Name of the bridge's namespace under /run/netns; also names this instance in every mark it makes. */
  readonly instance: string;
  readonly credentialsAddress: { readonly host: Ipv4; readonly port: number };
  readonly credentialsRate: { readonly perSecond: number; readonly burst: number };
  readonly auditLog: string | null;
  readonly interface: string;
  readonly eniWaitSeconds: number;
  readonly metadataSettleSeconds: number;
  readonly dhcpClient: 'auto' | 'dhclient' | 'off';
  readonly blockInstanceMetadata: boolean;
  readonly maxEnis: number | null;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** Base URL of instance metadata, without a trailing slash. */
  readonly metadataEndpoint: string;
  readonly region: string | null;
}

/** Every bad variable at once, a line each, named. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one variable after the other and collects what is wrong with each. */
class Reader {
  readonly problems: string[] = [];
  constructor(private readonly environment: Environment) {}

  /** The variable's text; `fallback` when it is unset. Set but empty is a value of its own. */
  text(name: string, fallback: string): string {
    return this.environment[name] ?? fallback;
  }

  optional(name: string): string | null {
    return this.environment[name] || null;
  }

  parse<T>(name: string, fallback: string, parse: (text: string) => T | undefined, wanted: string): T {
    const text = this.text(name, fallback);
    const value = parse(text);
    if (value !== undefined) return value;
    this.problems.push(`${name}: ${JSON.stringify(text)} is not ${wanted}`);
    return parse(fallback) as T;
  }

  oneOf<T extends string>(name: string, fallback: T, values: readonly T[]): T {
    return this.parse(name, fallback, (text) => values.find((value) => value === text), `one of ${values.join(', ')}`);
  }

  problem(name: string, sentence: string): void {
    this.problems.push(`${name}: ${sentence}`);
  }
}

/** `host:port`, `[v6]:port`; an empty text means no listener and gives null. */
function parseListen(text: string): ListenAddress | null | undefined {
  if (text === '') return null;
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port < 1 || port > 65535 ? undefined : { host, port };
}

function whole(least: number, most: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
}

function parseRate(text: string): { perSecond: number; burst: number } | undefined {
  const match = /^\s*(\d{1,6})\s*,\s*(\d{1,6})\s*$/.exec(text);
  const perSecond = Number(match?.[1]);
  const burst = Number(match?.[2]);
  return perSecond > 0 && burst > 0 ? { perSecond, burst } : undefined;
}

function parseBridgeSubnet(text: string): Ipv4Cidr | undefined {
  const cidr = parseIpv4Cidr(text);
  if (cidr === undefined || cidr.prefix < 16 || cidr.prefix > 29) return undefined;
  return formatCidr(subnetOf(cidr)) === text ? cidr : undefined;
}

function parseCredentialsAddress(text: string): { host: Ipv4; port: number } | undefined {
  const listen = parseListen(text);
  const host = listen ? parseIpv4(listen.host) : undefined;
  return listen && host !== undefined ? { host, port: listen.port } : undefined;
}

const absolutePath = (text: string): string | undefined => (text.startsWith('/') ? text : undefined);
const interfaceName = (text: string): string | undefined =>
  /^[^\s/:]{1,15}$/.test(text) && text !== '.' && text !== '..' ? text : undefined;
const instanceName = (text: string): string | undefined =>
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text) ? text : undefined;
const optionalPath = (text: string): string | null | undefined => (text === '' ? null : absolutePath(text));

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function readTls(reader: Reader): TlsFiles | null {
  const cert = reader.optional('TASK_ENI_API_TLS_CERT');
  const key = reader.optional('TASK_ENI_API_TLS_KEY');
  const clientCa = reader.optional('TASK_ENI_API_TLS_CLIENT_CA');
  if (cert !== null && key !== null) return { cert, key, clientCa };
  if (cert !== null) reader.problem('TASK_ENI_API_TLS_KEY', 'must be set with TASK_ENI_API_TLS_CERT');
  if (key !== null) reader.problem('TASK_ENI_API_TLS_CERT', 'must be set with TASK_ENI_API_TLS_KEY');
  if (clientCa !== null && cert === null && key === null)
    reader.problem('TASK_ENI_API_TLS_CLIENT_CA', 'needs TASK_ENI_API_TLS_CERT and TASK_ENI_API_TLS_KEY');
  return null;
}

function readApi(reader: Reader) {
  const listen = 'host:port, [address]:port or empty';
  const apiAddress = reader.parse('TASK_ENI_API_ADDRESS', '127.0.0.1:51680', parseListen, listen);
  const apiTls = readTls(reader);
  if (apiAddress !== null && apiTls === null && !isLoopback(apiAddress.host))
    reader.problem(
      'TASK_ENI_API_ADDRESS',
      `${apiAddress.host} is not a loopback address, and without TASK_ENI_API_TLS_CERT and _KEY only those are allowed`,
    );
  return {
    apiAddress,
    apiTls,
    apiSocket: reader.parse('TASK_ENI_API_SOCKET', '/run/task-eni/api.sock', optionalPath, 'an absolute path or empty'),
    apiSocketGroup: reader.optional('TASK_ENI_API_SOCKET_GROUP'),
    apiTokenFile: reader.parse('TASK_ENI_API_TOKEN_FILE', '/run/task-eni/token', absolutePath, 'an absolute path'),
    metricsAddress: reader.parse('TASK_ENI_METRICS_ADDRESS', '', parseListen, listen),
  };
}

function readLinkLocal(reader: Reader) {
  const bridgeSubnet = reader.parse(
    'TASK_ENI_BRIDGE_SUBNET',
    '169.254.172.0/22',
    parseBridgeSubnet,
    'an IPv4 subnet of /16 to /29 with its host part zero',
  );
  return {
    bridge: reader.parse('TASK_ENI_BRIDGE', 'ecs-eni', interfaceName, 'an interface name'),
    bridgeSubnet,
    bridgeAddress: firstUsable(bridgeSubnet),
    instance: reader.parse(
      'TASK_ENI_BRIDGE_NETNS',
      'task-eni',
      instanceName,
      'a name of letters, digits, ".", "_" and "-" of at most 63 characters',
    ),
    credentialsAddress: reader.parse(
      'TASK_ENI_CREDENTIALS_ADDRESS',
      '169.254.170.2:80',
      parseCredentialsAddress,
      'an IPv4 address with a port',
    ),
    credentialsRate: reader.parse(
      'TASK_ENI_CREDENTIALS_RATE',
      '40,60',
      parseRate,
      '"requests a second,burst", both above 0',
    ),
  };
}

/** Parses the environment. Throws {@link SettingsError} with a line for each bad variable. */
export function readSettings(environment: Environment): Settings {
  const reader = new Reader(environment);
  const parseBoolean = (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined);
  const settings: Settings = {
    ...readApi(reader),
    ...readLinkLocal(reader),
    stateDir: reader.parse('TASK_ENI_STATE_DIR', '/var/lib/task-eni', absolutePath, 'an absolute path'),
    runDir: reader.parse('TASK_ENI_RUN_DIR', '/run/task-eni', absolutePath, 'an absolute path'),
    sandbox: reader.oneOf('TASK_ENI_SANDBOX', 'auto', ['auto', 'docker', 'netns']),
    dockerHost: reader.optional('DOCKER_HOST'),
    pauseImage: reader.parse(
      'TASK_ENI_PAUSE_IMAGE',
      'registry.k8s.io/pause:3.10',
      (text) => (/^\S+$/.test(text) ? text : undefined),
      'an image name',
    ),
    auditLog: reader.parse(
      'TASK_ENI_AUDIT_LOG',
      '/var/log/task-eni/audit.log',
      optionalPath,
      'an absolute path or empty',
    ),
    interface: reader.parse('TASK_ENI_INTERFACE', 'eth0', interfaceName, 'an interface name'),
    eniWaitSeconds: reader.parse(
      'TASK_ENI_ENI_WAIT_SECONDS',
      '180',
      whole(1, 3600),
      'a whole number of seconds from 1 to 3600',
    ),
    metadataSettleSeconds: reader.parse(
      'TASK_ENI_METADATA_SETTLE_SECONDS',
      '10',
      whole(0, 600),
      'a whole number of seconds from 0 to 600',
    ),
    dhcpClient: reader.oneOf('TASK_ENI_DHCP_CLIENT', 'auto', ['auto', 'dhclient', 'off']),
    blockInstanceMetadata: reader.parse('TASK_ENI_BLOCK_INSTANCE_METADATA', 'true', parseBoolean, 'true or false'),
    maxEnis: reader.parse(
      'TASK_ENI_MAX_ENIS',
      '',
      (text) => (text === '' ? null : whole(1, 1000)(text)),
      'a whole number from 1 to 1000',
    ),
    logLevel: reader.oneOf('TASK_ENI_LOG_LEVEL', 'info', [
      'fatal',
      'error',
      'warn',
      'info',
      'debug',
      'trace',
      'silent',
    ]),
    metadataEndpoint: reader.parse(
      'AWS_EC2_METADATA_SERVICE_ENDPOINT',
      'http://169.254.169.254',
      parseEndpoint,
      'an http URL',
    ),
    region: reader.optional('AWS_REGION') ?? reader.optional('AWS_DEFAULT_REGION'),
  };
  if (reader.problems.length > 0) throw new SettingsError(reader.problems);
  return settings;
}

function parseEndpoint(text: string): string | undefined {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined;
  return text.replace(/\/+$/, '');
}
