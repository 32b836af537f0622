import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { finishDocument } from './finish-document.js';
import { serviceVersion } from './service-version.js';

const description = `Gives each task (a group of containers that share one network namespace) its own elastic network interface and its own IAM credentials.

On the unix socket no token is needed; on TCP every path but \`/\`, \`/healthz\`, \`/readyz\`, \`/metrics\`, \`/docs\` and \`/openapi.json\` needs \`Authorization: Bearer <token>\`, and \`Host\` must be a name or an address of the listener.
Every call is safe to repeat. Errors are \`application/problem+json\`, with a \`code\` to decide by. Unknown fields and unknown query parameters are refused.`;

const tags: readonly (readonly [name: string, about: string])[] = [
  ['Networks', "A task's network: its ENI, its sandbox and its way to its credentials."],
  ['Tasks', 'All tasks of the host, once or as they change.'],
  ['Credentials', "A task's IAM credentials."],
  ['Host', 'Capacity, health and metrics.'],
];

/** The API's document, the same whether the app serves or is only looked at (Nest's preview mode). */
export function describeApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('task-eni')
    .setDescription(description)
    .setVersion(serviceVersion)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The listener that serves this document')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'The token in TASK_ENI_API_TOKEN_FILE.' }, 'token')
    .addSecurityRequirements('token');
  for (const [name, about] of tags) builder.addTag(name, about);
  return finishDocument(SwaggerModule.createDocument(app, builder.build(), { autoTagControllers: false }));
}

/** Swagger UI at /docs, all of it served from here, and the document at /openapi.json. */
export function serveDocs(app: INestApplication): void {
  app.use('/docs', setDocsHeaders);
  SwaggerModule.setup('docs', app, () => describeApi(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'task-eni API',
    swaggerOptions: {
      docExpansion: 'list',
      tryItOutEnabled: true,
      persistAuthorization: false,
      displayRequestDuration: true,
    },
  });
}

/** Swagger UI writes style elements and draws icons from data URLs; scripts come from its own files only. */
function setDocsHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set(
    'content-security-policy',
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  next();
}
