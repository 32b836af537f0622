/** What the network looks like from inside a task, and what it does not let through. */
import type { Lab } from '../lab/lab.js';
import { vpc } from '../lab/vpc.js';
import { type Task, ask, credentialsUrl, show, withoutSecrets } from './task.js';
import { blank, check, command, heading, output, say } from './terminal.js';

export async function lookInside(task: Task, lab: Lab): Promise<void> {
  const { id, network } = task;
  heading(`Inside ${id}`);
  say(
    `${network.eni.interface} is the ENI itself, ${network.linkLocal.interface} leads to the credentials and nowhere else.`,
  );
  const links = await show(task, 'ip', '-brief', 'link');
  check(
    links.includes(network.eni.macAddress),
    `the link with the ENI's MAC address ${network.eni.macAddress} is here`,
  );
  const addresses = await show(task, 'ip', '-brief', 'address');
  check(addresses.includes(network.eni.ipv4Address ?? '?'), `it has the ENI's address ${network.eni.ipv4Address}`);
  await show(task, 'ip', 'route');
  await show(task, 'ip', '-6', 'route', 'show', 'default');
  const ping = await show(task, 'ping', '-c', '2', '-i', '0.2', '-W', '2', vpc.gateway);
  check(/ [12] received/.test(ping), `the VPC's gateway ${vpc.gateway} answers`);
  await showMetadataBlocked(task, lab);
  await showCredentials(task);
}

async function showMetadataBlocked({ id, network }: Task, lab: Lab): Promise<void> {
  const url = `http://${vpc.metadata}/latest/meta-data/`;
  const [fromTask, fromHost] = [await ask(network.sandbox.netns, url), await ask(lab.host.path, url)];
  blank();
  check(fromTask.status === 0, `instance metadata, and with it the host's role, is out of ${id}'s reach`);
  check(fromHost.status === 401, 'the host itself reaches it: it asks for a token (401)');
}

async function showCredentials(task: Task): Promise<void> {
  const url = credentialsUrl(task);
  command(`curl ${url}`);
  const { status, text } = await ask(task.network.sandbox.netns, url);
  if (status === 200) output(withoutSecrets(text));
  check(
    status === 200 && text.includes(task.network.credentials.roleArn),
    `${task.id} gets its own role's credentials`,
  );
}

/** Each task asks for what is the other's. */
export async function showRefusals(tasks: readonly Task[], lab: Lab): Promise<void> {
  heading('What is refused');
  for (const [n, task] of tasks.entries()) {
    const other = tasks[(n + 1) % tasks.length] as Task;
    const { status, text } = await ask(task.network.sandbox.netns, credentialsUrl(other));
    const isRefused = status >= 400 && status < 500 && !text.includes('SecretAccessKey');
    check(isRefused, `${task.id} asks for ${other.id}'s credentials, knowing their path: ${status}`);
  }
  const [first] = tasks as [Task];
  const fromHost = await ask(lab.host.path, credentialsUrl(first));
  check(fromHost.status === 0, `the host asks for ${first.id}'s credentials: nothing answers there`);
}
