import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, NextFunction, Request, Response } from 'express';
import { TaskEniError } from '../errors.js';
import { serveDocs } from './describe-api.js';
import { type Route, methodsAt, routesOf } from './routes.js';

const largestBody = 64 * 1024;

/** Sets up what stands before the controllers. To be called once, before `init()`, on an app made with `bodyParser: false`. */
export function configureApp(app: INestApplication): void {
  const nest = app as NestExpressApplication;
  const express = nest.getHttpAdapter().getInstance() as Application;
  express.set('case sensitive routing', true);
  express.set('query parser', 'simple');
  express.set('etag', false);
  express.disable('x-powered-by');
  nest.use(setHeaders);
  nest.use(refuseUnknown(express));
  nest.use(requireJson);
  nest.useBodyParser('json', { limit: largestBody, inflate: false, strict: true, type: 'application/json' });
  serveDocs(nest);
}

/** Nothing is ever to be cached, framed, sniffed or run; pages say for themselves what they need. */
function setHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  next();
}

/** Answers for paths and methods that no controller has, before a body is read. */
function refuseUnknown(express: Application) {
  let routes: Route[] | undefined;
  return (request: Request, response: Response, next: NextFunction): void => {
    routes ??= routesOf(express);
    const methods = methodsAt(routes, request.path);
    // The files of Swagger UI are no routes.
    if (methods === undefined && request.path.startsWith('/docs/')) return next();
    if (methods === undefined) throw new TaskEniError('not-found', 'there is nothing at this path');
    if (!methods.has(request.method)) {
      const allow = [...methods].sort().join(', ');
      response.set('allow', allow);
      throw new TaskEniError('method-not-allowed', `the path takes ${allow}`);
    }
    next();
  };
}

/** Express would leave a body of another type unread, and a caller with the wrong header would be told that fields are missing. */
function requireJson(request: Request, _response: Response, next: NextFunction): void {
  const { 'content-type': type, 'content-length': length, 'transfer-encoding': coding } = request.headers;
  const takesBody = request.method === 'POST' || request.method === 'PUT';
  const hasBody = coding !== undefined || Number(length) > 0;
  if (takesBody && (hasBody || type !== undefined) && !/^application\/json *(;|$)/i.test(type ?? ''))
    throw new TaskEniError('unsupported-media-type', 'the body must be application/json');
  next();
}
