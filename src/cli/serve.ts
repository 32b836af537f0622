import 'reflect-metadata';
import type { RequestListener } from 'node:http';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger } from 'pino';
import { configureApp } from '../api/configure-app.js';
import { Listeners } from '../api/listeners.js';
import { AppModule } from '../app.module.js';
import { describeError } from '../errors.js';
import { forbidCoreDumps } from '../kernel/libc.js';
import { notifyService } from '../kernel/service-notification.js';
import { createLogger, logWarnings, nestLogger } from '../logging.js';
import { Daemon } from '../daemon.js';
import { SettingsError, readSettings } from '../settings.js';

/** Milliseconds within which a stop is over, whatever hangs: an agent that restarts the service waits for it. */
const stopPatience = 12_000;

/** Runs the service until a signal; resolves with the exit code. */
export async function serve(environment: NodeJS.ProcessEnv): Promise<number> {
  const settings = parse(environment);
  if (settings === undefined) return 1;
  const logger = await createLogger(settings.logLevel);
  logWarnings(logger);
  // Which Node the AWS SDK will want in years to come is for whoever develops the service.
  environment['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  // The default of both is to end the process; SIGUSR1 would also start the inspector, on whichever thread and namespace.
  process.on('SIGUSR1', () => logger.debug('SIGUSR1 is ignored'));
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'the service failed; its tasks keep their networks');
    process.exit(1);
  });
  const stopped = firstSignal();
  try {
    // Credentials of all tasks lie in this process's memory.
    forbidCoreDumps();
    const daemon = await Daemon.open(settings, logger);
    await daemon.start();
    const listeners = await listen(daemon, logger);
    process.on('SIGHUP', () => {
      listeners.reload();
      daemon.credentialsServer.reopenAudit().catch((error: unknown) => {
        logger.error({ reason: describeError(error) }, 'the audit log could not be opened again');
      });
    });
    logger.info({ sandbox: daemon.host.sandboxKind, instance: settings.instance }, 'ready');
    tellSystemd(environment, 'READY=1', logger);
    logger.info({ signal: await stopped }, 'stopping');
    tellSystemd(environment, 'STOPPING=1', logger);
    return await stop(daemon, listeners, logger);
  } catch (error) {
    logger.fatal({ err: error }, `the service cannot run: ${describeError(error)}`);
    return 1;
  }
}

function parse(environment: NodeJS.ProcessEnv) {
  try {
    return readSettings(environment);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.problems.join('\n')}\n`);
    return undefined;
  }
}

/** What does not reach systemd is no reason to end: should it wait for it, it will end the service and say so. */
function tellSystemd({ NOTIFY_SOCKET: socket }: NodeJS.ProcessEnv, state: string, logger: Logger): void {
  if (socket === undefined || socket === '') return;
  try {
    notifyService(socket, state);
  } catch (error) {
    logger.error({ reason: describeError(error) }, `systemd could not be told ${state}`);
  }
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
  });
}

async function listen(daemon: Daemon, logger: Logger): Promise<Listeners> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.over(daemon), {
    bodyParser: false,
    logger: nestLogger(logger),
  });
  configureApp(app);
  await app.init();
  const listeners = app.get(Listeners);
  await listeners.start(app.getHttpAdapter().getInstance() as RequestListener);
  return listeners;
}

async function stop(daemon: Daemon, listeners: Listeners, logger: Logger): Promise<number> {
  const late = setTimeout(() => {
    logger.fatal('the service does not stop in time; leaving it');
    process.exit(1);
  }, stopPatience);
  await Promise.all([daemon.drain(), listeners.stop()]);
  await daemon.stop();
  clearTimeout(late);
  logger.info('stopped');
  return 0;
}
