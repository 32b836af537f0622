/** Writes the API's document to a file. Nest's preview mode makes nothing of what is provided, so neither root nor Docker is needed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { apiNeeds } from '../api/api-parts.js';
import { describeApi } from '../api/describe-api.js';
import { AppModule } from '../app.module.js';

const [target = 'openapi/openapi.json'] = process.argv.slice(2);
const notMade = apiNeeds.map((provide) => ({ provide, useValue: undefined }));
const app = await NestFactory.create(
  { module: AppModule, providers: notMade },
  { preview: true, logger: ['error', 'fatal'] },
);
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${JSON.stringify(describeApi(app), null, 2)}\n`);
