import { type Ipv4, type Ipv4Cidr, firstUsable } from './addresses/cidr.js';
import {
  type Environment,
  type ListenAddress,
  EnvironmentReader,
  absolutePath,
  instanceName,
  interfaceName,
  isLoopback,
  optionalPath,
  parseBridgeSubnet,
  parseCredentialsAddress,
  parseEndpoint,
  parseListen,
  parseRate,
  whole,
} from './environment-reader.js';

/** The value of `instance` where none is set. */
export const defaultInstance = 'task-eni';

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

function readTls(reader: EnvironmentReader): TlsFiles | null {
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

function readApi(reader: EnvironmentReader) {
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

function readLinkLocal(reader: EnvironmentReader) {
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
      defaultInstance,
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
  const reader = new EnvironmentReader(environment);
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
