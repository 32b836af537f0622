import type { NetworkDto, TaskListDto } from '../api/network.dto.js';
import type { Problem } from '../api/problem.js';
import { describeError } from '../errors.js';
import { SettingsError, readSettings } from '../settings.js';
import { type SocketAnswer, getOverSocket } from './socket-call.js';
import { networkText, taskTable } from './status-text.js';

/** Shows all tasks, or one, as the service tells them by its socket. Resolves with the exit code. */
export async function status(
  environment: NodeJS.ProcessEnv,
  taskId: string | undefined,
  json: boolean,
): Promise<number> {
  try {
    const { body } = await ask(socketOf(environment), taskId);
    process.stdout.write(json ? `${JSON.stringify(body, null, 2)}\n` : show(body, taskId));
    return 0;
  } catch (error) {
    process.stderr.write(`task-eni status: ${describeError(error)}\n`);
    return 1;
  }
}

function socketOf(environment: NodeJS.ProcessEnv): string {
  try {
    const { apiSocket } = readSettings(environment);
    if (apiSocket !== null) return apiSocket;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Error(error.problems.join('; '), { cause: error });
  }
  throw new Error('TASK_ENI_API_SOCKET is empty, and status has no other way to the service');
}

async function ask(socketPath: string, taskId: string | undefined): Promise<SocketAnswer> {
  const path = taskId === undefined ? '/tasks' : `/tasks/${encodeURIComponent(taskId)}/network`;
  const answer = await getOverSocket(socketPath, path).catch((error: unknown) => {
    throw new Error(unreachable(socketPath, error), { cause: error });
  });
  if (answer.status === 200) return answer;
  const { detail = `the service answered ${answer.status}` } = answer.body as Partial<Problem>;
  throw new Error(detail);
}

function unreachable(socketPath: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ECONNREFUSED')
    return `the service is not running: nobody listens at ${socketPath}`;
  if (code === 'EACCES')
    return `${socketPath} may not be used by this user; be root, or in the group of TASK_ENI_API_SOCKET_GROUP`;
  return `${socketPath}: ${describeError(error)}`;
}

function show(body: unknown, taskId: string | undefined): string {
  if (taskId !== undefined) return networkText(body as NetworkDto);
  // Known of a terminal only: what goes into a pipe or a file is whole.
  return taskTable((body as TaskListDto).tasks, Date.now(), process.stdout.columns);
}
