import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Page {
  readonly html: string;
  /** A Content-Security-Policy by which nothing runs but what is in `html`, and nothing is called but this service. */
  readonly policy: string;
}

/**
 * The page in one document: `/` is open and a path for each file would not be, since a browser sends no token for a script.
 * Scripts and styles are named in the policy by their digests (CSP Level 3, section 2.3.1).
 */
export function readPage(): Page {
  const scripts: string[] = [];
  const styles: string[] = [];
  const html = readPart('index.html')
    .replace(/<link rel="stylesheet" href="([\w.]+)" \/>/g, (_tag, name: string) => {
      const style = readPart(name);
      styles.push(style);
      return `<style>${style}</style>`;
    })
    .replace(/<script type="module" src="([\w.]+)"><\/script>/g, (_tag, name: string) => {
      const script = readPart(name);
      scripts.push(script);
      return `<script type="module">${script}</script>`;
    });
  return { html, policy: policyFor(scripts, styles) };
}

function policyFor(scripts: readonly string[], styles: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.map(digestOf).join(' ')}`,
    `style-src ${styles.map(digestOf).join(' ')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

function readPart(name: string): string {
  return readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');
}

function digestOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
