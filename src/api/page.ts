import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Page {
  readonly html: string;
  /** A Content-Security-Policy by which nothing runs but what is in `html`, and nothing is called but this service. */
  readonly policy: string;
}

/**
 * The page in one document: `/` is open and a path for each file would not be, since a browser sends no token for a script.
 * Script and style are named in the policy by their digests (CSP Level 3, section 2.3.1).
 */
export function readPage(): Page {
  const [html, script, style] = ['index.html', 'page.js', 'page.css'].map(readPart) as [string, string, string];
  return {
    html: html
      .replace('<link rel="stylesheet" href="page.css" />', () => `<style>${style}</style>`)
      .replace('<script type="module" src="page.js"></script>', () => `<script type="module">${script}</script>`),
    policy: [
      "default-src 'none'",
      `script-src '${digestOf(script)}'`,
      `style-src '${digestOf(style)}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
  };
}

function readPart(name: string): string {
  return readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
