import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { apiControllers, apiProviders } from '../../src/api/api-parts.js';
import { configureApp } from '../../src/api/configure-app.js';
import { HOST_REPORT, LOGGER, READINESS, type ReadinessCheck, SETTINGS } from '../../src/api/injection.js';
import { Attachments } from '../../src/attachments/attachments.js';
import { TaskCredentials } from '../../src/credentials/task-credentials.js';
import { DhcpClients } from '../../src/dhcp/dhcp-clients.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { type Settings, readSettings } from '../../src/settings.js';
import { FakeAttachments } from './fake-attachments.js';

export const hostReport = {
  instanceId: null,
  instanceType: 'm5.large',
  availabilityZone: null,
  region: null,
  version: '0.1.0',
  sandbox: 'netns',
  eni: { limit: 3, limitSource: 'table', limitCause: null, attached: 1, tasks: 0, available: 2 },
  linkLocal: { subnet: '169.254.172.0/22', capacity: 1021, allocated: 0 },
  orphans: [],
};

export interface ApiApp {
  readonly app: INestApplication;
  readonly attachments: FakeAttachments;
  /** Lines that the service logged. */
  readonly log: string[];
}

/** The whole HTTP side, wired as in production, over an imagined host. */
export async function makeApiApp(settings: Partial<Settings> = {}, checks: ReadinessCheck[] = []): Promise<ApiApp> {
  const attachments = new FakeAttachments();
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => void log.push(line) });
  const testing = await Test.createTestingModule({
    controllers: apiControllers,
    providers: [
      ...apiProviders,
      { provide: SETTINGS, useValue: { ...readSettings({}), ...settings } },
      { provide: LOGGER, useValue: logger },
      { provide: HOST_REPORT, useValue: async () => hostReport },
      { provide: READINESS, useValue: checks },
      { provide: Attachments, useValue: attachments },
      { provide: DhcpClients, useValue: { lease: () => undefined } },
      { provide: TaskCredentials, useValue: { expiration: () => null } },
      { provide: Metrics, useValue: { registry: new Registry() } },
    ],
  }).compile();
  const app = testing.createNestApplication({ bodyParser: false, logger: ['error', 'fatal'] });
  configureApp(app);
  await app.init();
  return { app, attachments, log };
}
