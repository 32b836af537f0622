/** The programs of a cluster that is one node, with the arguments and files that they get. See install.sh for where they come from. */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { vpc } from '../../lab/vpc.js';

const version = '1.34.4';
const cache = `${process.env['XDG_CACHE_HOME'] ?? `${homedir()}/.cache`}/task-eni-tests/kubernetes-${version}`;
export const kubernetes = `${cache}/kubernetes`;
/** Definitions of the Prometheus operator's kinds. */
export const operatorKinds = `${cache}/prometheus-operator.yaml`;
/** With version 1 of control groups each controller has a hierarchy of its own. */
export const memoryHierarchy = '/sys/fs/cgroup/memory';

/** What is not there; undefined when nothing is missing. */
export function missingForCluster(): string | undefined {
  if (process.env['TASK_ENI_TEST_WITHOUT_CLUSTER'] === 'true') return 'TASK_ENI_TEST_WITHOUT_CLUSTER is set';
  if (!existsSync(kubernetes) || !existsSync(operatorKinds))
    return `Kubernetes ${version} missing: run test/helm/cluster/install.sh, which builds it in some ten minutes`;
  if (!existsSync(`${memoryHierarchy}/tasks`))
    return 'there is no version 1 of control groups, and the node knows no other';
  const programs = ['/usr/bin/containerd', '/usr/sbin/runc', '/usr/lib/cni/loopback'];
  const absent = programs.filter((file) => !existsSync(file));
  return absent.length === 0 ? undefined : `${absent.join(', ')} missing`;
}

const users = {
  admin: ['admin', 'system:masters'],
  node: ['system:node:node', 'system:nodes'],
  controllers: ['system:kube-controller-manager', ''],
  scheduler: ['system:kube-scheduler', ''],
} as const;
type User = keyof typeof users;
export const kubeconfig = (folder: string, user: User) => `${folder}/${user}.kubeconfig`;

function kubeconfigOf(user: User) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'lab',
    clusters: [{ name: 'lab', cluster: { server: 'https://127.0.0.1:6443', 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'lab', user: { token: `token-of-${user}` } }],
    contexts: [{ name: 'lab', context: { cluster: 'lab', user: 'lab' } }],
  };
}

/** Whoever reaches it may do everything: it is alone in its network but for the lab's VPC. */
const kubeletConfiguration = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  failSwapOn: false,
  makeIPTablesUtilChains: false,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
  clusterDNS: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  // How full the disk of this machine is, is not the node's business.
  evictionHard: {
    'memory.available': '1Mi',
    'nodefs.available': '0%',
    'nodefs.inodesFree': '0%',
    'imagefs.available': '0%',
  },
  imageGCHighThresholdPercent: 100,
};

const containerd = (folder: string, pauseImage: string) => `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Nothing is spared more by the OOM killer than containerd itself: that would take CAP_SYS_RESOURCE, which is not everywhere.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
`;

/** Pods have the node's network here, but without a plugin the node is not ready. */
const network = { cniVersion: '0.4.0', name: 'lab', plugins: [{ type: 'loopback' }] };

/** Writes what the programs read, and a folder `bin` with the commands of the guide. */
export async function writeFiles(folder: string, pauseImage: string, helm: string): Promise<void> {
  await mkdir(`${folder}/cni`, { recursive: true });
  await mkdir(`${folder}/bin`);
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const names = Object.keys(users) as User[];
  const files: Record<string, string> = {
    'service-accounts.key': keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    'service-accounts.pub': keys.publicKey.export({ type: 'spki', format: 'pem' }) as string,
    'tokens.csv': names.map((user) => `token-of-${user},${users[user][0]},${user},${users[user][1]}\n`).join(''),
    'kubelet.json': JSON.stringify(kubeletConfiguration),
    'containerd.toml': containerd(folder, pauseImage),
    'cni/10-lab.conflist': JSON.stringify(network),
    'bin/kubectl': `#!/bin/sh\nexec ${kubernetes} kubectl "$@"\n`,
  };
  for (const user of names) files[`${user}.kubeconfig`] = JSON.stringify(kubeconfigOf(user));
  for (const [name, text] of Object.entries(files)) await writeFile(`${folder}/${name}`, text);
  await chmod(`${folder}/bin/kubectl`, 0o755);
  await symlink(helm, `${folder}/bin/helm`);
}

const etcd = 'http://127.0.0.1:2379';

/** What runs before the API answers. */
export const foundation = (folder: string): Record<string, string[]> => ({
  containerd: ['containerd', '--config', `${folder}/containerd.toml`],
  etcd: [
    kubernetes,
    'etcd',
    '--data-dir=/run/etcd',
    '--unsafe-no-fsync',
    `--listen-client-urls=${etcd}`,
    `--advertise-client-urls=${etcd}`,
  ],
  apiserver: [
    kubernetes,
    'kube-apiserver',
    `--etcd-servers=${etcd}`,
    '--bind-address=127.0.0.1',
    `--advertise-address=${vpc.primary}`,
    '--cert-dir=/run/kubernetes',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${folder}/service-accounts.key`,
    `--service-account-key-file=${folder}/service-accounts.pub`,
    `--token-auth-file=${folder}/tokens.csv`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--kubelet-preferred-address-types=InternalIP',
    // As kubeadm sets it.
    '--allow-privileged=true',
  ],
});

/** What needs the API to start. */
export const rest = (folder: string): Record<string, string[]> => ({
  controllers: [
    kubernetes,
    'kube-controller-manager',
    `--kubeconfig=${kubeconfig(folder, 'controllers')}`,
    `--service-account-private-key-file=${folder}/service-accounts.key`,
    '--use-service-account-credentials',
    '--bind-address=127.0.0.1',
    '--leader-elect=false',
  ],
  scheduler: [
    kubernetes,
    'kube-scheduler',
    `--kubeconfig=${kubeconfig(folder, 'scheduler')}`,
    '--bind-address=127.0.0.1',
    '--leader-elect=false',
  ],
});

/** The node, known to the API by this address of its own. */
export const kubelet = (folder: string, address: string) => [
  kubernetes,
  'kubelet',
  `--kubeconfig=${kubeconfig(folder, 'node')}`,
  `--config=${folder}/kubelet.json`,
  '--hostname-override=node',
  `--node-ip=${address}`,
];

/** A Docker engine that runs its containers in the node's containerd, beside those of Kubernetes, and gives them no network. */
export const docker = [
  'dockerd',
  '--containerd=/run/containerd/containerd.sock',
  '--host=unix:///run/docker.sock',
  '--bridge=none',
  ...['iptables', 'ip6tables', 'ip-forward', 'ip-masq'].map((name) => `--${name}=false`),
  '--exec-opt=native.cgroupdriver=cgroupfs',
];
