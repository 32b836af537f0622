/** A task of the demo: attached over the API as an agent would, then looked at from inside. */
import type { Network } from '../lab/answers.js';
import { CommandError, run } from '../lab/command.js';
import { account } from '../lab/credentials.js';
import type { Eni } from '../lab/eni.js';
import type { ServiceProcess } from '../lab/service-process.js';
import { command, output } from './terminal.js';

export interface Task {
  readonly id: string;
  readonly network: Network;
}

export function attachBody(id: string, eni: Eni): Record<string, unknown> {
  return {
    eni: { id: eni.id },
    credentials: { source: 'assume-role', roleArn: `arn:aws:iam::${account}:role/${id}` },
    labels: { demo: 'yes' },
  };
}

export async function attach(service: ServiceProcess, id: string, eni: Eni): Promise<Task> {
  const { status, body } = await service.post(id, attachBody(id, eni));
  if (status !== 201) throw new Error(`POST /tasks/${id}/network: ${status} ${body.detail}`);
  return { id, network: body };
}

/** Runs a program in the task's network namespace, shows both, and gives what it wrote. */
export async function show({ network }: Task, ...args: string[]): Promise<string> {
  command(`nsenter --net=${network.sandbox.netns} ${args.map(quoted).join(' ')}`);
  const text = await run('nsenter', [`--net=${network.sandbox.netns}`, '--', ...args]);
  output(text);
  return text;
}

const quoted = (argument: string) => (/^[\w./:=@%+-]+$/.test(argument) ? argument : `'${argument}'`);

export interface Reply {
  /** 0: no connection, or no answer. */
  readonly status: number;
  readonly text: string;
}

/** What a URL answers in the namespace of that path. */
export async function ask(netns: string, url: string): Promise<Reply> {
  const curl = ['curl', '--silent', '--noproxy', '*', '--max-time', '5', '--write-out', '\n%{http_code}', url];
  const text = await run('nsenter', [`--net=${netns}`, '--', ...curl]).catch((error: unknown) => {
    // 7: could not connect, 28: too late. Anything else is a fault of the demo.
    if (error instanceof CommandError && [7, 28].includes(Number(error.code))) return '\n0';
    throw error;
  });
  const end = text.lastIndexOf('\n');
  return { status: Number(text.slice(end + 1)), text: text.slice(0, end) };
}

/** The whole URL at which the task's containers fetch their credentials. */
export function credentialsUrl({ network }: Task): string {
  return `http://169.254.170.2${network.environment['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']}`;
}

/** The answer with all but the first letters of what is secret left out. */
export function withoutSecrets(text: string): string {
  const answer = JSON.parse(text) as Record<string, string>;
  const short = (key: string) => (key in answer ? { [key]: `${answer[key]?.slice(0, 4)}...` } : {});
  return JSON.stringify({ ...answer, ...short('SecretAccessKey'), ...short('Token') }, undefined, 2);
}
