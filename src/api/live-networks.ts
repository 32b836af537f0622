import { Inject, Injectable } from '@nestjs/common';
import { TaskCredentials } from '../credentials/task-credentials.js';
import { DhcpClients } from '../dhcp/dhcp-clients.js';
import type { Settings } from '../settings.js';
import type { AttachmentRecord } from '../store/record.js';
import { SETTINGS } from './injection.js';
import type { NetworkDto } from './network.dto.js';
import { viewNetwork } from './network-view.js';

/** Joins a record with what changes by itself: its lease and its credentials' end. */
@Injectable()
export class LiveNetworks {
  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly dhcpClients: DhcpClients,
    private readonly taskCredentials: TaskCredentials,
  ) {}

  view(record: AttachmentRecord): NetworkDto {
    return viewNetwork(record, this.settings.bridge, {
      lease: this.dhcpClients.lease(record.hash),
      credentialsExpiration: this.taskCredentials.expiration(record.hash),
    });
  }
}
