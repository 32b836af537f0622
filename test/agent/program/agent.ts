/** A small agent, as others would write theirs: agent.js <verb> <argument> [JSON body]. Prints what it was told as JSON. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './task-eni.js';

type Schemas = components['schemas'];

const token = (await readFile(process.env['TOKEN_FILE'] ?? '/run/task-eni/token', 'utf8')).trim();
// JSON alone: the list of tasks can also be had as a stream of events.
const client = createClient<paths, `application/${string}`>({
  baseUrl: 'http://127.0.0.1:51680',
  headers: { authorization: `Bearer ${token}` },
});
const at = (taskId: string) => ({ path: { taskId } });

class Refused extends Error {
  constructor(readonly problem: Schemas['Problem']) {
    super(problem.detail);
  }
}

/** What an agent does next; the compiler knows every code, and that only some problems list fields. */
function remedy(problem: Schemas['Problem']): string {
  switch (problem.code) {
    case 'invalid-request':
      return `mend ${(problem.errors ?? []).map(({ path }) => path).join(', ')}`;
    case 'task-exists':
    case 'eni-in-use':
    case 'sandbox-in-use':
      return 'detach first';
    case 'task-not-found':
      return 'attach first';
    default:
      return problem.status >= 500 ? 'come again' : 'ask a person';
  }
}

/** Asked for at once and then waited for, so that no connection stays open for as long as an ENI may take to appear. */
async function attach(taskId: string, body: Schemas['AttachRequest']): Promise<unknown> {
  const params = { ...at(taskId), header: { Prefer: 'respond-async' } };
  const { data, error, response } = await client.POST('/tasks/{taskId}/network', { params, body });
  if (error) throw new Refused(error);
  let network: Schemas['Network'] = data;
  while (network.state === 'PENDING' || network.state === 'ATTACHING') {
    await sleep(20);
    network = await read(taskId);
  }
  const { networkMode, environment } = network;
  const location = response.headers.get('location');
  return { status: response.status, location, state: network.state, networkMode, environment, error: network.error };
}

async function read(taskId: string): Promise<Schemas['Network']> {
  const params = { ...at(taskId), query: { verify: true } };
  const { data, error } = await client.GET('/tasks/{taskId}/network', { params });
  if (error) throw new Refused(error);
  return data;
}

async function list(label: string): Promise<string[]> {
  const { data, error } = await client.GET('/tasks', { params: { query: { label: [label], state: ['READY'] } } });
  if (error) throw new Refused(error);
  return data.tasks.map(({ taskId }) => taskId);
}

async function push(taskId: string, body: Schemas['PushedCredentials']): Promise<Schemas['Credentials']> {
  const { data, error } = await client.PUT('/tasks/{taskId}/credentials', { params: at(taskId), body });
  if (error) throw new Refused(error);
  return data.credentials;
}

async function takeAway(taskId: string): Promise<number> {
  const { error, response } = await client.DELETE('/tasks/{taskId}/credentials', { params: at(taskId) });
  if (error) throw new Refused(error);
  return response.status;
}

/** Null when there was nothing. */
async function detach(taskId: string) {
  const { data, error } = await client.DELETE('/tasks/{taskId}/network', { params: at(taskId) });
  if (error) throw new Refused(error);
  return data ?? null;
}

async function capacity(): Promise<Schemas['EniCapacity']> {
  const { data, error } = await client.GET('/host');
  if (error) throw new Refused(error);
  return data.eni;
}

function carryOut(verb: string, argument: string, text: string): Promise<unknown> {
  switch (verb) {
    case 'attach':
      return attach(argument, JSON.parse(text) as Schemas['AttachRequest']);
    case 'read':
      return read(argument);
    case 'list':
      return list(argument);
    case 'push':
      return push(argument, JSON.parse(text) as Schemas['PushedCredentials']);
    case 'take-away':
      return takeAway(argument);
    case 'detach':
      return detach(argument);
    case 'capacity':
      return capacity();
    default:
      throw new Error(`no such verb: ${verb}`);
  }
}

const [verb = '', argument = '', text = ''] = process.argv.slice(2);
try {
  console.log(JSON.stringify(await carryOut(verb, argument, text)));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.log(JSON.stringify({ code: error.problem.code, remedy: remedy(error.problem) }));
}
