/** What the one Nest module lists of this folder. */
import { APP_FILTER } from '@nestjs/core';
import { CredentialsController } from './credentials.controller.js';
import { HealthController } from './health.controller.js';
import { HostController } from './host.controller.js';
import { Listeners } from './listeners.js';
import { LiveNetworks } from './live-networks.js';
import { MetricsController } from './metrics.controller.js';
import { NetworksController } from './networks.controller.js';
import { PageController } from './page.controller.js';
import { ProblemFilter } from './problem.filter.js';
import { StopSignal } from './stop-signal.js';
import { TaskStreams } from './task-streams.js';
import { TasksController } from './tasks.controller.js';

export const apiControllers = [
  NetworksController,
  TasksController,
  CredentialsController,
  HostController,
  HealthController,
  MetricsController,
  PageController,
];

/** They need Attachments, TaskCredentials, DhcpClients, Metrics, and the tokens of injection.ts. */
export const apiProviders = [
  Listeners,
  LiveNetworks,
  StopSignal,
  TaskStreams,
  { provide: APP_FILTER, useClass: ProblemFilter },
];
