/** What the one Nest module lists of this folder. */
import { APP_FILTER } from '@nestjs/core';
import { Attachments } from '../attachments/attachments.js';
import { TaskCredentials } from '../credentials/task-credentials.js';
import { DhcpClients } from '../dhcp/dhcp-clients.js';
import { Metrics } from '../metrics/metrics.js';
import { CredentialsController } from './credentials.controller.js';
import { HealthController } from './health.controller.js';
import { HostController } from './host.controller.js';
import { HOST_REPORT, LOGGER, READINESS, SETTINGS } from './injection.js';
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

export const apiProviders = [
  Listeners,
  LiveNetworks,
  StopSignal,
  TaskStreams,
  { provide: APP_FILTER, useClass: ProblemFilter },
];

/** What the parts above are given from elsewhere. */
export const apiNeeds = [Attachments, TaskCredentials, DhcpClients, Metrics, SETTINGS, LOGGER, HOST_REPORT, READINESS];
