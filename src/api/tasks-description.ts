/** What the API's document says of the listing of tasks. */
import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { Problems } from './describe-problems.js';
import { networkExample } from './examples.js';
import { TaskListDto } from './network.dto.js';

export function DescribeList(): MethodDecorator {
  return applyDecorators(
    ApiTags('Tasks'),
    ApiOperation({
      operationId: 'listTasks',
      summary: 'List the tasks, or watch them',
      description:
        'With `Accept: text/event-stream` the answer does not end: an event `snapshot` carries the list, then an unnamed one for each change carries the network that changed. DETACHED is the last word of a task. A filter on the state also tells of the change by which a task leaves it.',
    }),
    ApiExtraModels(TaskListDto),
    ApiResponse({
      status: 200,
      description: 'The tasks.',
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath(TaskListDto) },
          example: { tasks: [networkExample] },
        },
        'text/event-stream': {
          schema: { type: 'string' },
          example: `event: snapshot\ndata: {"tasks":[]}\n\ndata: {"taskId":"web-1","state":"PENDING"}\n\n`,
        },
      },
    }),
    Problems('shutting-down'),
  );
}
