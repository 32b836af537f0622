/** What instance metadata says: leaves by path, folders listed as EC2 lists them. Pure. */

export interface Instance {
  readonly instanceId: string;
  readonly instanceType: string;
  readonly availabilityZone: string;
  readonly region: string;
  readonly accountId: string;
  readonly imageId: string;
  readonly hostname: string;
  readonly privateIp: string;
  /** MAC of the primary interface. */
  readonly mac: string;
  readonly vpcIpv4: string;
  readonly subnetIpv4: string;
  readonly subnetIpv6: string | null;
  readonly vpcIpv6: string | null;
}

export interface RoleCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly token: string;
  /** `YYYY-MM-DDTHH:MM:SSZ` */
  readonly expiration: string;
}

export interface Role {
  readonly name: string;
  readonly credentials: RoleCredentials;
}

export interface InterfaceFacts {
  readonly mac: string;
  readonly id: string;
  readonly deviceNumber: number;
  /** Without prefix; null leaves the family's keys out. */
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

/** Keys of one interface by their path below its folder; several values are lines. */
export type InterfaceKeys = Record<string, string>;

export function interfaceKeys(instance: Instance, facts: InterfaceFacts): InterfaceKeys {
  const keys: InterfaceKeys = {
    'device-number': String(facts.deviceNumber),
    'interface-id': facts.id,
    mac: facts.mac,
    'owner-id': instance.accountId,
    'security-group-ids': 'sg-0123456789abcdef0',
    'security-groups': 'default',
    'subnet-id': 'subnet-0123456789abcdef0',
    'vpc-id': 'vpc-0123456789abcdef0',
    'vpc-ipv4-cidr-block': instance.vpcIpv4,
    'vpc-ipv4-cidr-blocks': instance.vpcIpv4,
  };
  if (facts.ipv4 !== null) {
    keys['local-ipv4s'] = facts.ipv4;
    keys['local-hostname'] = `ip-${facts.ipv4.replaceAll('.', '-')}.${instance.region}.compute.internal`;
    keys['subnet-ipv4-cidr-block'] = instance.subnetIpv4;
  }
  if (facts.ipv6 !== null) keys['ipv6s'] = facts.ipv6;
  if (instance.subnetIpv6 !== null) keys['subnet-ipv6-cidr-blocks'] = instance.subnetIpv6;
  if (instance.vpcIpv6 !== null) keys['vpc-ipv6-cidr-blocks'] = instance.vpcIpv6;
  return keys;
}

export const macsPath = 'meta-data/network/interfaces/macs';

function identityDocument(instance: Instance): string {
  const { accountId, availabilityZone, imageId, instanceId, instanceType, privateIp, region } = instance;
  return JSON.stringify(
    {
      accountId,
      architecture: 'x86_64',
      availabilityZone,
      imageId,
      instanceId,
      instanceType,
      privateIp,
      region,
      version: '2017-09-30',
    },
    null,
    2,
  );
}

function roleLeaves(instance: Instance, role: Role): [string, string][] {
  const updated = { Code: 'Success', LastUpdated: new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, '') };
  const { accessKeyId, secretAccessKey, token, expiration } = role.credentials;
  const credentials = {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: token,
    Expiration: expiration,
  };
  const profile = `arn:aws:iam::${instance.accountId}:instance-profile/${role.name}`;
  return [
    [
      'meta-data/iam/info',
      JSON.stringify({ ...updated, InstanceProfileArn: profile, InstanceProfileId: 'AIPAEXAMPLE' }),
    ],
    [
      `meta-data/iam/security-credentials/${role.name}`,
      JSON.stringify({ ...updated, Type: 'AWS-HMAC', ...credentials }),
    ],
  ];
}

/** All leaves. An interface without keys is listed, and has none: a stale one. */
export function leaves(
  instance: Instance,
  interfaces: ReadonlyMap<string, InterfaceKeys>,
  role: Role | null,
): Map<string, string> {
  const found = new Map<string, string>([
    ['meta-data/ami-id', instance.imageId],
    ['meta-data/hostname', instance.hostname],
    ['meta-data/instance-id', instance.instanceId],
    ['meta-data/instance-type', instance.instanceType],
    ['meta-data/local-hostname', instance.hostname],
    ['meta-data/local-ipv4', instance.privateIp],
    ['meta-data/mac', instance.mac],
    ['meta-data/placement/availability-zone', instance.availabilityZone],
    ['meta-data/placement/region', instance.region],
    ['meta-data/services/domain', 'amazonaws.com'],
    ['meta-data/services/partition', 'aws'],
    ['dynamic/instance-identity/document', identityDocument(instance)],
  ]);
  for (const [mac, keys] of interfaces)
    for (const [key, value] of Object.entries(keys)) found.set(`${macsPath}/${mac}/${key}`, value);
  if (role !== null) for (const [path, value] of roleLeaves(instance, role)) found.set(path, value);
  return found;
}

/** A leaf's value, or a folder's listing, its folders ending in `/`; undefined where EC2 answers 404. */
export function readTree(found: ReadonlyMap<string, string>, macs: Iterable<string>, path: string): string | undefined {
  const wanted = path.replace(/\/+$/, '');
  const leaf = found.get(wanted);
  if (leaf !== undefined) return leaf;
  if (wanted === macsPath) return [...macs].map((mac) => `${mac}/`).join('\n');
  const below = [...found.keys()].filter((key) => key.startsWith(`${wanted}/`));
  if (below.length === 0) return undefined;
  const names = below.map((key) => {
    const [first = '', ...rest] = key.slice(wanted.length + 1).split('/');
    return rest.length > 0 ? `${first}/` : first;
  });
  return [...new Set(names)].toSorted().join('\n');
}
