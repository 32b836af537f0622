import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { parseTaskId } from '../attachments/task-id.js';
import { TaskEniError, describeError, errorTable } from '../errors.js';
import { LOGGER } from './injection.js';
import { knownError, sendProblem } from './problem.js';

/** The one place where what was thrown becomes an answer. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = this.explain(thrown, request).at(taskOf(request));
    if (response.headersSent) {
      response.destroy();
      return;
    }
    sendProblem(response, error);
  }

  private explain(thrown: unknown, { method, path }: Request): TaskEniError {
    const error =
      knownError(thrown) ?? new TaskEniError('internal', 'the service failed; its log says why', { cause: thrown });
    if (errorTable[error.code].status === 500)
      this.logger.error({ method, path, code: error.code, step: error.step, err: thrown }, describeError(thrown));
    return error;
  }
}

/** The task of the path, for errors whose thrower did not know it. */
function taskOf({ params }: Request): { taskId?: string } {
  const { taskId } = params;
  return typeof taskId === 'string' && parseTaskId(taskId) !== undefined ? { taskId } : {};
}
