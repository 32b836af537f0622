/** Writes the API's document to a file. Nest's preview mode makes no provider, so neither root nor Docker is needed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { describeApi } from '../api/describe-api.js';
import { AppModule } from '../app.module.js';

const [target = 'openapi/openapi.json'] = process.argv.slice(2);
const app = await NestFactory.create(AppModule, { preview: true, logger: ['error', 'fatal'] });
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${JSON.stringify(describeApi(app), null, 2)}\n`);
