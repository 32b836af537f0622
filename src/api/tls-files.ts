import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { TlsFiles } from '../settings.js';
import type { Tls } from './http-server.js';

/** Certificate, key and clients' CA as the files have them now. */
export function readTlsFiles(files: TlsFiles): Tls {
  return {
    cert: readFileSync(files.cert),
    key: readFileSync(files.key),
    requestCert: files.clientCa !== null,
    ...(files.clientCa !== null && { ca: readFileSync(files.clientCa) }),
  };
}

/** Whether the certificate was given for this name or address. */
export function isNamedIn(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}
