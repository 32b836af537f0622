import type { LoggerService } from '@nestjs/common';
import { type Logger, destination, pino } from 'pino';

/** Paths at which a secret could stand in an object that is logged by mistake. */
const redacted = ['secretAccessKey', 'sessionToken', 'accessKeyId', 'authorization', 'token'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
]);

/** JSON lines on standard output; readable ones on a terminal. Written synchronously: the last line before a crash is the one that matters. */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, redact: { paths: redacted, censor: '[redacted]' }, base: { pid: process.pid } };
  if (process.stdout.isTTY) {
    const { default: pretty } = await import('pino-pretty');
    return pino(options, pretty({ sync: true, ignore: 'pid', translateTime: 'HH:MM:ss.l' }));
  }
  return pino(options, destination({ fd: 1, sync: true }));
}

/** Warnings of Node and of libraries, in the same log: Node writes them on standard error in lines of its own. */
export function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message, stack }) => logger.warn({ name, stack }, message));
}

/** Nest's own messages in the same log, its start-up chatter as debug. */
export function nestLogger(logger: Logger): LoggerService {
  const write =
    (level: 'debug' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...more: unknown[]) =>
      logger[level]({ context: more.at(-1) }, String(message));
  return {
    log: write('debug'),
    debug: write('debug'),
    verbose: write('debug'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
  };
}
