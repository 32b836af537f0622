/** The demo from its first word to its last; what it claims, it has seen. */
import type { Network } from '../lab/answers.js';
import { DockerEngine } from '../lab/docker-engine.js';
import type { Eni } from '../lab/eni.js';
import type { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { Sts } from '../lab/sts.js';
import { vpc } from '../lab/vpc.js';
import { openBrowserDoor } from './browser-door.js';
import { lookInside, showRefusals } from './inside.js';
import type { Interruption } from './interruption.js';
import type { Stage } from './stage.js';
import { type Task, attach, attachBody } from './task.js';
import { check, command, heading, output, places, say, table, title } from './terminal.js';

const taskIds = ['web', 'worker'] as const;
const visitorsTask = 'mine';
/** As TASK_ENI_API_ADDRESS has it unless set. */
const apiPort = 51680;

export async function play(stage: Stage, interruption: Interruption, keep: boolean): Promise<void> {
  title('task-eni: every task its own network interface and its own credentials');
  say('All of this happens in network namespaces made for the demo; the network of this machine is not touched.');
  const lab = await layLab(stage);
  const enis = await plugEnis(lab);
  const service = await startService(stage, lab);
  const tasks = await attachTasks(service, enis);
  for (const task of tasks) await lookInside(task, lab);
  await showRefusals(tasks, lab);
  showSteps(tasks);
  showPlaces(lab, service);
  if (keep) await keepRunning(stage, lab, service, interruption);
  await detachTasks(service, enis);
  await service.stop();
}

async function layLab(stage: Stage): Promise<Lab> {
  heading('The lab: a pretend EC2 host in a pretend VPC');
  const lab = await stage.lab();
  say(`Subnet ${vpc.subnet} and ${vpc.ipv6Subnet}, router ${vpc.gateway}, host ${vpc.primary}.`);
  say('The host has instance metadata at 169.254.169.254, the VPC has DHCP and an STS of its own.');
  return lab;
}

async function plugEnis(lab: Lab): Promise<Eni[]> {
  const enis = [await lab.createEni(), await lab.createEni()];
  say('Two elastic network interfaces (ENIs) are plugged into the host, down and without addresses:');
  table(enis.map(({ id, mac, hostName, ipv4Address }) => [hostName, id, mac, ipv4Address]));
  return enis;
}

async function startService(stage: Stage, lab: Lab): Promise<ServiceProcess> {
  heading('The service, started as in production');
  const engine = await startEngine(stage);
  const sts = await Sts.start(lab);
  const sandboxes = engine === undefined ? {} : await engine.serviceEnvironment();
  const started = performance.now();
  // A session of its own: Ctrl-C is for the demo, which then lets the service detach the tasks.
  const service = await lab.startService({
    env: { ...sts.environment(), ...sandboxes, TASK_ENI_LOG_LEVEL: 'info' },
    before: ['setsid'],
  });
  say(
    `node dist/main.js serve, in the host's network namespace: ready after ${Math.round(performance.now() - started)} ms.`,
  );
  return service;
}

async function startEngine(stage: Stage): Promise<DockerEngine | undefined> {
  try {
    const engine = await stage.engine();
    say("Each task's sandbox is a Docker pause container, on an engine started for the demo.");
    return engine;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
    say(`Each task's sandbox is a bare network namespace, since no Docker engine runs here: ${reason}`);
    return undefined;
  }
}

async function attachTasks(service: ServiceProcess, enis: readonly Eni[]): Promise<Task[]> {
  heading('Attach: POST /tasks/{taskId}/network with the id of an ENI and a role');
  const tasks = await Promise.all(taskIds.map((id, n) => attach(service, id, enis[n] as Eni)));
  for (const { id, network } of tasks) {
    check(network.state === 'READY', `${id} is READY after ${network.attachMs} ms`);
    say(`    its containers are started with the network ${network.networkMode}`);
    for (const [name, value] of Object.entries(network.environment)) say(`    and the variable ${name}=${value}`);
  }
  return tasks;
}

function showSteps(tasks: readonly Task[]): void {
  heading('How long each step took, in milliseconds');
  const [first] = tasks;
  const steps = first?.network.steps ?? [];
  const durationOf = ({ network }: Task, name: string) =>
    (network.steps.find((step) => step.name === name)?.durationMs ?? 0).toFixed(1);
  table([
    ['', ...tasks.map(({ id }) => id)],
    ...steps.map(({ name }) => [name].concat(tasks.map((task) => durationOf(task, name)))),
    ['from request to READY', ...tasks.map(({ network }) => (network.attachMs ?? 0).toFixed(1))],
  ]);
  say('The two were attached at the same time. Most of it is waiting for others: Docker, where there is one, and STS.');
}

function showPlaces(lab: Lab, service: ServiceProcess): void {
  heading('Where everything is');
  places([
    ['host', `ip netns exec ${lab.host.name} ip address`],
    ['bridge', `ip netns exec ${lab.id} bridge link`],
    ['API socket', `curl --unix-socket ${service.socket} http://localhost/tasks`],
    [
      'API',
      `http://127.0.0.1:${apiPort} of the host, with the token in ${service.environment['TASK_ENI_API_TOKEN_FILE']}`,
    ],
    ['Swagger UI', `http://127.0.0.1:${apiPort}/docs of the host; with npm run demo -- --keep a browser reaches it`],
    ['state', `${service.environment['TASK_ENI_STATE_DIR']}`],
    ['log', service.logFile],
    ['audit log', `${service.environment['TASK_ENI_AUDIT_LOG']}`],
  ]);
}

async function keepRunning(stage: Stage, lab: Lab, service: ServiceProcess, interruption: Interruption): Promise<void> {
  const tokenFile = service.environment['TASK_ENI_API_TOKEN_FILE'];
  const { port } = await stage.putUp(openBrowserDoor(lab, apiPort), (door) => door.close());
  heading('It goes on running until you press Ctrl-C');
  places([
    ['live page', `http://127.0.0.1:${port}/`],
    ['Swagger UI', `http://127.0.0.1:${port}/docs`],
    ['token', `cat ${tokenFile}`],
  ]);
  const body = JSON.stringify(attachBody(visitorsTask, await lab.createEni()));
  say('A third ENI is plugged in, and free. Attach it yourself: in Swagger UI, with this body, or from a shell:');
  output(body);
  command(
    `curl http://127.0.0.1:${port}/tasks/${visitorsTask}/network -H "Authorization: Bearer $(cat ${tokenFile})" ` +
      `-H 'Content-Type: application/json' -d '${body}'`,
  );
  await interruption.wait();
  await detachOthers(service);
}

/** What a visitor attached, under whatever name. */
async function detachOthers(service: ServiceProcess): Promise<void> {
  const { body } = await service.api<{ tasks: Network[] }>('GET', '/tasks');
  const others = body.tasks.map(({ taskId }) => taskId).filter((id) => !taskIds.some((own) => own === id));
  for (const id of others) {
    const { status } = await service.del(id, { force: true });
    check(status < 300, `${id} is detached, too`);
  }
}

async function detachTasks(service: ServiceProcess, enis: readonly Eni[]): Promise<void> {
  heading('Detach: DELETE /tasks/{taskId}/network');
  for (const [n, id] of taskIds.entries()) {
    const { status, body } = await service.del(id);
    if (status !== 200) throw new Error(`DELETE /tasks/${id}/network: ${status} ${body.detail}`);
    const eni = enis[n] as Eni;
    check(body.eni.hostInterface === eni.hostName, `${id} is gone; its ENI is home again as ${body.eni.hostInterface}`);
  }
}
