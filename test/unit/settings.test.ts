import { describe, expect, it } from 'vitest';
import { SettingsError, readSettings } from '../../src/settings.js';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(readSettings({})).toMatchObject({
      apiAddress: { host: '127.0.0.1', port: 51680 },
      apiSocket: '/run/task-eni/api.sock',
      apiTokenFile: '/run/task-eni/token',
      metricsAddress: null,
      stateDir: '/var/lib/task-eni',
      sandbox: 'auto',
      pauseImage: 'registry.k8s.io/pause:3.10',
      bridge: 'ecs-eni',
      bridgeSubnet: { address: '169.254.172.0', prefix: 22 },
      bridgeAddress: '169.254.172.1',
      instance: 'task-eni',
      credentialsAddress: { host: '169.254.170.2', port: 80 },
      credentialsRate: { perSecond: 40, burst: 60 },
      interface: 'eth0',
      eniWaitSeconds: 180,
      metadataSettleSeconds: 10,
      blockInstanceMetadata: true,
      maxEnis: null,
      metadataEndpoint: 'http://169.254.169.254',
    });
  });

  it('switch listeners off when set to nothing', () => {
    expect(readSettings({ TASK_ENI_API_ADDRESS: '', TASK_ENI_API_SOCKET: '', TASK_ENI_AUDIT_LOG: '' })).toMatchObject({
      apiAddress: null,
      apiSocket: null,
      auditLog: null,
    });
  });

  it('name every bad variable at once', () => {
    const problems = problemsOf({
      TASK_ENI_BRIDGE_SUBNET: '169.254.172.1/22',
      TASK_ENI_CREDENTIALS_RATE: '0,5',
      TASK_ENI_ENI_WAIT_SECONDS: '1.5',
      TASK_ENI_LOG_LEVEL: 'loud',
      TASK_ENI_INTERFACE: 'a-name-that-is-too-long',
    });
    expect(problems.map((line) => line.split(':')[0])).toEqual([
      'TASK_ENI_BRIDGE_SUBNET',
      'TASK_ENI_CREDENTIALS_RATE',
      'TASK_ENI_INTERFACE',
      'TASK_ENI_ENI_WAIT_SECONDS',
      'TASK_ENI_LOG_LEVEL',
    ]);
  });

  it('refuse an address that is not loopback without TLS, and take it with', () => {
    expect(problemsOf({ TASK_ENI_API_ADDRESS: '0.0.0.0:51680' })[0]).toMatch(/^TASK_ENI_API_ADDRESS: 0\.0\.0\.0 /);
    const tls = { TASK_ENI_API_TLS_CERT: '/c', TASK_ENI_API_TLS_KEY: '/k' };
    expect(readSettings({ TASK_ENI_API_ADDRESS: '0.0.0.0:51680', ...tls }).apiTls).toMatchObject({ cert: '/c' });
  });

  it('refuse half a TLS pair, naming the missing half', () => {
    expect(problemsOf({ TASK_ENI_API_TLS_CERT: '/c' })[0]).toMatch(/^TASK_ENI_API_TLS_KEY:/);
    expect(problemsOf({ TASK_ENI_API_TLS_KEY: '/k' })[0]).toMatch(/^TASK_ENI_API_TLS_CERT:/);
    expect(problemsOf({ TASK_ENI_API_TLS_CLIENT_CA: '/ca' })[0]).toMatch(/^TASK_ENI_API_TLS_CLIENT_CA:/);
  });

  it.each(['127.0.0.1', 'localhost:0', '127.0.0.1:65536', ':80', '127.0.0.1:http', '::1:80', '[::1]80'])(
    'refuse %j as a listener',
    (text) => expect(problemsOf({ TASK_ENI_API_ADDRESS: text })).toHaveLength(1),
  );

  it.each([
    ['172.31.0.10:9680', '172.31.0.10'],
    ['[172.31.0.10]:9680', '172.31.0.10'],
    ['[2001:db8:1::10]:9680', '2001:db8:1::10'],
  ])('take %s as a listener at %s', (text, host) =>
    expect(readSettings({ TASK_ENI_METRICS_ADDRESS: text }).metricsAddress).toEqual({ host, port: 9680 }),
  );
});
