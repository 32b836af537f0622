/** What the API's document says of a task's credentials. */
import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOperation, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { AssumeRoleCredentialsDto, PushedCredentialsDto } from './credentials.dto.js';
import { Problems } from './describe-problems.js';
import { credentialsExamples, networkExample } from './examples.js';
import { NetworkDto } from './network.dto.js';
import { DescribeTaskId } from './networks-description.js';

/** Either source, told apart by the field `source`. */
export const credentialsSchema = {
  oneOf: [AssumeRoleCredentialsDto, PushedCredentialsDto].map((one) => ({ $ref: getSchemaPath(one) })),
  discriminator: {
    propertyName: 'source',
    mapping: { 'assume-role': getSchemaPath(AssumeRoleCredentialsDto), pushed: getSchemaPath(PushedCredentialsDto) },
  },
};

export function DescribePutCredentials(): MethodDecorator {
  return applyDecorators(
    ApiTags('Credentials'),
    ApiOperation({
      operationId: 'putCredentials',
      summary: "Replace the task's credentials",
      description:
        'Containers go on asking by the same relative URI. Also how an agent that pushes credentials renews them.',
    }),
    DescribeTaskId(),
    ApiExtraModels(AssumeRoleCredentialsDto, PushedCredentialsDto),
    ApiBody({ schema: credentialsSchema, examples: credentialsExamples }),
    ApiResponse({
      status: 200,
      description: 'The network with its credentials.',
      type: NetworkDto,
      example: { ...networkExample },
    }),
    Problems(
      'payload-too-large',
      'unsupported-media-type',
      'task-not-found',
      'busy',
      'credentials-refused',
      'credentials-timeout',
      'shutting-down',
      'step-failed',
    ),
  );
}

export function DescribeDeleteCredentials(): MethodDecorator {
  return applyDecorators(
    ApiTags('Credentials'),
    ApiOperation({
      operationId: 'deleteCredentials',
      summary: "Revoke the task's credentials",
      description: 'The next fetch by a container is refused.',
    }),
    DescribeTaskId(),
    ApiResponse({ status: 204, description: 'The task has no credentials.' }),
    Problems('task-not-found', 'busy', 'shutting-down', 'step-failed'),
  );
}
