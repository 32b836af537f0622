import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Application } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttachDto } from '../../src/api/attach.dto.js';
import { checkInput } from '../../src/api/input.pipe.js';
import { methodsAt, routesOf } from '../../src/api/routes.js';
import { type ErrorCode, errorTable } from '../../src/errors.js';
import { type ApiApp, makeApiApp } from './api-app.js';

interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly security?: object[];
  readonly requestBody?: { content: { 'application/json': { examples: Record<string, { value: unknown }> } } };
  readonly responses: Record<
    string,
    { content?: Record<string, { examples?: Record<string, { value: { code: ErrorCode } }> }> }
  >;
}

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as OpenAPIObject;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, Operation>).map(([method, operation]) => ({
    path,
    method,
    operation,
  })),
);

describe('the committed document', () => {
  it('is what the built service says of itself, without root or a host', () => {
    const folder = mkdtempSync(join(tmpdir(), 'task-eni-openapi-'));
    execFileSync(process.execPath, ['dist/cli/write-openapi.js', join(folder, 'now.json')]);
    const now = readFileSync(join(folder, 'now.json'), 'utf8');
    rmSync(folder, { recursive: true });
    expect(now === readFileSync('openapi/openapi.json', 'utf8'), 'run: npm run build && npm run openapi').toBe(true);
  });

  it('satisfies the linter', () => {
    const lint = ['lint', '--config', '.redocly.yaml', 'openapi/openapi.json'];
    expect(() => execFileSync('node_modules/.bin/redocly', lint, { stdio: 'pipe' })).not.toThrow();
  });

  it('names each operation once, and groups it', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    const groups = (document.tags ?? []).map(({ name }) => name);
    for (const { operation } of operations) expect(groups).toContain(operation.tags[0]);
  });

  it('tells of every code with its own status, and of every operation behind the token what may go wrong', () => {
    const told = new Set<ErrorCode>();
    for (const { operation } of operations) {
      if (operation.security !== undefined) continue;
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['400', '401', '500']));
      for (const [status, { content }] of Object.entries(operation.responses)) {
        for (const { value } of Object.values(content?.['application/problem+json']?.examples ?? {})) {
          expect(errorTable[value.code].status).toBe(Number(status));
          told.add(value.code);
        }
      }
    }
    // These belong to no operation: there is none at the path, or none by the method.
    expect([...told, 'not-found', 'method-not-allowed'].toSorted()).toEqual(Object.keys(errorTable).toSorted());
  });

  it('has examples of requests that the service takes', () => {
    const bodies = operations.find(({ operation }) => operation.operationId === 'attachNetwork')?.operation.requestBody;
    const examples = Object.values(bodies?.content['application/json'].examples ?? {});
    expect(examples.length).toBeGreaterThan(5);
    for (const { value } of examples) expect(checkInput(value, () => AttachDto)).toBeInstanceOf(AttachDto);
  });
});

describe('the document and the routes', () => {
  let api: ApiApp;
  beforeAll(async () => {
    api = await makeApiApp();
  });
  afterAll(() => api.app.close());

  it('agree', () => {
    const routes = routesOf(api.app.getHttpAdapter().getInstance() as Application);
    for (const path of Object.keys(document.paths)) {
      const told = operations.filter((operation) => operation.path === path).map(({ method }) => method.toUpperCase());
      const served = methodsAt(routes, path.replaceAll(/\{\w+\}/g, 'x')) ?? new Set();
      expect([...served].filter((method) => method !== 'HEAD').toSorted()).toEqual(told.toSorted());
    }
    const untold = ['/', '/docs', '/openapi.json'].filter((path) => methodsAt(routes, path) === undefined);
    expect(untold).toEqual([]);
  });
});
