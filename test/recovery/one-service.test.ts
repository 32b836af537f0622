import { afterEach, beforeEach, expect, it } from 'vitest';
import { Inside } from '../attach/inside.js';
import { inCheckout } from '../lab/checkout.js';
import { CommandError } from '../lab/command.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

let lab: Lab;
let service: ServiceProcess;

beforeEach(async () => {
  lab = await Lab.create({ name: 'one-service', ipv6: false });
  service = await lab.startService();
});
afterEach(async () => {
  await service?.kill();
  await lab?.destroy();
});

/** All folders are its own, as in a container: only the instance name, and the host, are the same. */
const elsewhere = () => ({
  TASK_ENI_STATE_DIR: `${lab.directory}/state2`,
  TASK_ENI_RUN_DIR: `${lab.directory}/run2`,
  TASK_ENI_API_SOCKET: `${lab.directory}/run2/api.sock`,
  TASK_ENI_API_TOKEN_FILE: `${lab.directory}/run2/token`,
  TASK_ENI_API_ADDRESS: '',
});

it('a second service of the same name does not start, says why, and harms nothing of the first', async () => {
  const eni = await lab.createEni();
  const { body } = await service.post('web', { eni: { macAddress: eni.mac }, dhcp: false });
  const second = await lab.startService({ env: elsewhere(), waitReady: false });
  expect(await second.exited).toEqual({ code: 1, signal: null });
  const message = `another service with TASK_ENI_BRIDGE_NETNS=${lab.id} runs on this host`;
  expect(second.logs().at(-1)?.msg).toContain(message);
  const network = await service.api('GET', '/tasks/web/network?verify=true');
  expect(network.body).toMatchObject({ state: 'READY', drift: [] });
  await new Inside(body.sandbox.netns).ping('172.31.0.1');
  const doctor = lab.host.runWith(
    { env: lab.serviceEnvironment(elsewhere()) },
    process.execPath,
    inCheckout('dist/main.js'),
    'doctor',
  );
  const failure = await doctor.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CommandError);
  expect((failure as CommandError).stdout).toMatch(/names.*is held by another service/);
});

it('a killed one is followed at once, whoever locks what everybody may open, and whatever it has left running', async () => {
  const eni = await lab.createEni();
  expect((await service.post('web', { eni: { macAddress: eni.mac } })).status).toBe(201);
  const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '--'];
  const locked = ['flock', '--no-fork', `/run/netns/${lab.id}`, 'sh', '-c', 'echo locked; exec sleep 600'];
  const holder = lab.host.start('setpriv', [...nobody, ...locked], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => holder.stdout?.once('data', resolve));
  await service.kill();
  service = await lab.startService();
  expect((await service.get('web')).body.state).toBe('READY');
  expect(service.logs().filter(({ level = 0 }) => level >= 50)).toEqual([]);
  holder.kill('SIGKILL');
});
