/** Which methods a path takes, read off the routes that the controllers registered. */
import type { Application } from 'express';

export interface Route {
  readonly pattern: RegExp;
  readonly methods: ReadonlySet<string>;
}

/** A GET route answers HEAD too. */
export function routesOf(express: Application): Route[] {
  const routes = new Map<string, Set<string>>();
  for (const { route } of express.router.stack) {
    if (route === undefined) continue;
    const methods = routes.get(route.path) ?? new Set<string>();
    for (const { method } of route.stack) methods.add(method.toUpperCase());
    if (methods.has('GET')) methods.add('HEAD');
    routes.set(route.path, methods);
  }
  return [...routes].map(([path, methods]) => ({ pattern: patternOf(path), methods }));
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : escapeRegExp(segment)));
  return new RegExp(`^${segments.join('/')}/?$`);
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** Undefined when nothing is at the path. */
export function methodsAt(routes: readonly Route[], path: string): ReadonlySet<string> | undefined {
  return routes.find(({ pattern }) => pattern.test(path))?.methods;
}
