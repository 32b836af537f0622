/** What the API's document says of the host, the service's health and its metrics. */
import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Problems } from './describe-problems.js';
import { HealthDto, PartDto, ReadinessDto } from './health.dto.js';
import { HostReportDto } from './host.dto.js';

/** Open to everyone: an empty requirement, beside which the document's default does not apply. */
const Open = (): MethodDecorator => ApiSecurity({});

export function DescribeHost(): MethodDecorator {
  return applyDecorators(
    ApiTags('Host'),
    ApiOperation({ operationId: 'readHost', summary: 'Read what this host is and has left' }),
    ApiResponse({ status: 200, description: 'The host.', type: HostReportDto }),
    Problems('shutting-down'),
  );
}

export function DescribeHealth(): MethodDecorator {
  return applyDecorators(
    ApiTags('Host'),
    Open(),
    ApiOperation({ operationId: 'readHealth', summary: 'Ask whether the process lives' }),
    ApiResponse({ status: 200, description: 'It does.', type: HealthDto }),
  );
}

export function DescribeReadiness(): MethodDecorator {
  return applyDecorators(
    ApiTags('Host'),
    Open(),
    ApiExtraModels(PartDto),
    ApiOperation({ operationId: 'readReadiness', summary: 'Ask whether every part works' }),
    ApiResponse({ status: 200, description: 'Every part does.', type: ReadinessDto }),
    ApiResponse({ status: 503, description: 'At least one does not.', type: ReadinessDto }),
  );
}

export function DescribeMetrics(): MethodDecorator {
  return applyDecorators(
    ApiTags('Host'),
    Open(),
    ApiOperation({ operationId: 'readMetrics', summary: 'Read the metrics for Prometheus' }),
    ApiResponse({
      status: 200,
      description: "Prometheus' text format.",
      content: { 'text/plain': { schema: { type: 'string' }, example: 'task_eni_tasks{state="READY"} 1\n' } },
    }),
  );
}
