import { Body, Controller, Delete, HttpCode, HttpStatus, Param, Put, Query } from '@nestjs/common';
import { Attachments } from '../attachments/attachments.js';
import type { TaskId } from '../attachments/task-id.js';
import { type CredentialsDto, credentialsClass } from './credentials.dto.js';
import { DescribeDeleteCredentials, DescribePutCredentials } from './credentials-description.js';
import { InputPipe } from './input.pipe.js';
import { LiveNetworks } from './live-networks.js';
import { NetworkDto } from './network.dto.js';
import { NoOptionsDto } from './query.dto.js';
import { StopSignal } from './stop-signal.js';
import { TaskIdPipe } from './task-id.pipe.js';
import { toCredentials } from './to-request.js';

@Controller('tasks/:taskId/credentials')
export class CredentialsController {
  constructor(
    private readonly attachments: Attachments,
    private readonly networks: LiveNetworks,
    private readonly stopSignal: StopSignal,
  ) {}

  @Put()
  @DescribePutCredentials()
  async put(
    @Param('taskId', TaskIdPipe) taskId: TaskId,
    @Query(new InputPipe(() => NoOptionsDto)) _query: NoOptionsDto,
    @Body(new InputPipe<CredentialsDto>(credentialsClass)) body: CredentialsDto,
  ): Promise<NetworkDto> {
    const work = this.attachments.putCredentials(taskId, toCredentials(body));
    return this.networks.view(await this.stopSignal.waitFor(work));
  }

  @Delete()
  @HttpCode(HttpStatus.NO_CONTENT)
  @DescribeDeleteCredentials()
  async delete(
    @Param('taskId', TaskIdPipe) taskId: TaskId,
    @Query(new InputPipe(() => NoOptionsDto)) _query: NoOptionsDto,
  ): Promise<void> {
    await this.stopSignal.waitFor(this.attachments.deleteCredentials(taskId));
  }
}
