import { type DynamicModule, Module } from '@nestjs/common';
import { apiControllers, apiProviders } from './api/api-parts.js';
import { HOST_REPORT, LOGGER, READINESS, SETTINGS } from './api/injection.js';
import { Attachments } from './attachments/attachments.js';
import { TaskCredentials } from './credentials/task-credentials.js';
import { DhcpClients } from './dhcp/dhcp-clients.js';
import { Metrics } from './metrics/metrics.js';
import type { Daemon } from './daemon.js';

/** The one module: every controller and provider of the API, over a service that is made before it. */
@Module({ controllers: apiControllers, providers: apiProviders })
export class AppModule {
  static over(daemon: Daemon): DynamicModule {
    const { host } = daemon;
    return {
      module: AppModule,
      providers: [
        { provide: SETTINGS, useValue: host.settings },
        { provide: LOGGER, useValue: host.logger },
        { provide: HOST_REPORT, useValue: daemon.report },
        { provide: READINESS, useValue: daemon.readiness() },
        { provide: Attachments, useValue: daemon.attachments },
        { provide: TaskCredentials, useValue: host.credentials },
        { provide: DhcpClients, useValue: host.dhcp },
        { provide: Metrics, useValue: host.metrics },
      ],
    };
  }
}
