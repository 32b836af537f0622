/** What the API's document says of the network of a task. */
import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiHeader, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { AttachDto } from './attach.dto.js';
import { Problems } from './describe-problems.js';
import { attachExamples, networkExample } from './examples.js';
import { NetworkDto } from './network.dto.js';

export function DescribeTaskId(): MethodDecorator {
  return ApiParam({
    name: 'taskId',
    description: "The agent's own name for the task.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}$', example: 'web-1' },
  });
}

const location = { Location: { description: 'Path of the network.', schema: { type: 'string' as const } } };

function answers(status: number, description: string, headers = {}) {
  return ApiResponse({ status, description, headers, type: NetworkDto, example: { ...networkExample } });
}

export function DescribeAttach(): MethodDecorator {
  return applyDecorators(
    ApiTags('Networks'),
    ApiOperation({
      operationId: 'attachNetwork',
      summary: 'Give the task its ENI',
      description:
        'Answers when the network is ready, or with `Prefer: respond-async` at once. Safe to repeat: the same body joins the attach under way or finds it done. An attach goes on when its caller hangs up, and one that fails has undone all that it did.',
    }),
    DescribeTaskId(),
    ApiHeader({
      name: 'Prefer',
      required: false,
      description: '`respond-async` to be answered at once.',
      schema: { type: 'string' },
    }),
    ApiExtraModels(AttachDto),
    ApiBody({ type: AttachDto, examples: attachExamples }),
    answers(200, 'The network that the same request made before, or that this one joined.', location),
    answers(201, 'The network is ready.', location),
    answers(202, 'The attach is under way; GET tells its state.', {
      ...location,
      'Preference-Applied': { description: 'respond-async', schema: { type: 'string' } },
    }),
    Problems(
      'payload-too-large',
      'unsupported-media-type',
      'task-exists',
      'eni-in-use',
      'sandbox-in-use',
      'primary-eni',
      'busy',
      'cancelled',
      'unusable-sandbox',
      'unusable-eni',
      'credentials-refused',
      'credentials-timeout',
      'address-pool-exhausted',
      'docker-unavailable',
      'shutting-down',
      'eni-timeout',
      'metadata-timeout',
      'step-failed',
    ),
  );
}

export function DescribeRead(): MethodDecorator {
  return applyDecorators(
    ApiTags('Networks'),
    ApiOperation({ operationId: 'readNetwork', summary: "Read a task's network" }),
    DescribeTaskId(),
    answers(200, 'The network.'),
    Problems('task-not-found', 'shutting-down', 'step-failed'),
  );
}

export function DescribeDetach(): MethodDecorator {
  return applyDecorators(
    ApiTags('Networks'),
    ApiOperation({
      operationId: 'detachNetwork',
      summary: 'Take the ENI back from the task',
      description:
        'Undoes the attach, whatever of it is still there, and cancels one that is under way. The ENI is then on the host, down and bare.',
    }),
    DescribeTaskId(),
    answers(200, 'The network as it was, with where the ENI now is.'),
    ApiResponse({ status: 204, description: 'The task had no network.' }),
    Problems('busy', 'containers-joined', 'docker-unavailable', 'shutting-down', 'step-failed'),
  );
}
