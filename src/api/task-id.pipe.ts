import type { PipeTransform } from '@nestjs/common';
import { type TaskId, parseTaskId } from '../attachments/task-id.js';
import { TaskEniError } from '../errors.js';

/** A task id out of a path, percent-decoded. */
export class TaskIdPipe implements PipeTransform<string, TaskId> {
  transform(text: string): TaskId {
    const taskId = parseTaskId(text);
    if (taskId !== undefined) return taskId;
    const message = 'must be 1 to 255 letters, digits and "_.:-", the first a letter or digit';
    throw new TaskEniError('invalid-request', `taskId ${message}`, { fields: [{ path: 'taskId', message }] });
  }
}
