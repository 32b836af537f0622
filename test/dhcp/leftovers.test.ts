import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dhclientCommand, dhclientConfiguration, dhclientFiles, findDhclient } from '../../src/dhcp/dhclient.js';
import { Subnet, type Task, clientPids, until } from './subnet.js';

let subnet: Subnet;
let tasks: [Task, Task, Task];
const started: ChildProcess[] = [];

beforeAll(async () => {
  subnet = await Subnet.create();
  tasks = [await subnet.createTask('lives'), await subnet.createTask('ended'), await subnet.createTask('strange')];
  await subnet.serve(tasks);
});

afterAll(async () => {
  for (const task of tasks)
    for (const file of Object.values(dhclientFiles(task.hash, 4)) as string[]) await rm(file, { force: true });
  await subnet.destroy();
});

/** A client as a service that was killed leaves it where its death signal is lost. */
async function leave(task: Task, instance: string, program?: string): Promise<ChildProcess> {
  const programs = findDhclient('dhclient');
  if (programs === null) throw new Error('dhclient is not installed');
  const run = { hash: task.hash, instance, family: 4, interface: 'eth0' } as const;
  const { args } = dhclientCommand(programs, run);
  await writeFile(dhclientFiles(task.hash, 4).configuration, dhclientConfiguration(instance, 4));
  const [, , command = '', ...rest] = args;
  const child = task.home.start(program ?? command, rest, { stdio: 'ignore' });
  started.push(child);
  return child;
}

const lives = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

it('ends the clients of a former run of this instance alone, and goes on from the leases of tasks that live', async () => {
  const [living, ended, foreign] = tasks;
  const ours = [await leave(living, subnet.instance), await leave(ended, subnet.instance)];
  const theirs = await leave(foreign, `${subnet.instance}-2`);
  // Another program of that name and with those arguments is not dhclient, whatever it calls itself.
  const impostor = `${subnet.lab.directory}/dhclient.sh`;
  await writeFile(impostor, '#!/bin/sh\nsleep 1000\n', { mode: 0o755 });
  await copyFile(impostor, `${subnet.lab.directory}/dhclient`);
  const pretender = await leave(living, subnet.instance, `${subnet.lab.directory}/dhclient`);
  await until('three leases', 10, () => tasks.every((task) => existsSync(dhclientFiles(task.hash, 4).leases)));

  const clients = subnet.clients();
  await clients.sweepLeftovers(new Set([living.hash]));
  await until('the signals have come', 2, () => ours.every((child) => !lives(child)));
  expect([lives(theirs), lives(pretender)]).toEqual([true, true]);
  const left = tasks.map((task) => existsSync(dhclientFiles(task.hash, 4).leases));
  expect(left).toEqual([true, false, true]);

  clients.start({ ...living, ipv6: null });
  await until('bound', 5, () => clients.lease(living.hash)?.state === 'bound');
  expect(clientPids(living)).toHaveLength(1);
  await clients.stop(living.hash);
});
