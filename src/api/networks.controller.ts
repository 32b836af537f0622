import { Body, Controller, Delete, Get, HttpStatus, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Attachments } from '../attachments/attachments.js';
import type { TaskId } from '../attachments/task-id.js';
import { TaskEniError } from '../errors.js';
import type { Settings } from '../settings.js';
import { AttachDto } from './attach.dto.js';
import { SETTINGS } from './injection.js';
import { InputPipe } from './input.pipe.js';
import { LiveNetworks } from './live-networks.js';
import { NetworkDto } from './network.dto.js';
import { DescribeAttach, DescribeDetach, DescribeRead } from './networks-description.js';
import { prefersAsync } from './prefer.js';
import { DetachOptionsDto, NoOptionsDto, ReadOptionsDto } from './query.dto.js';
import { StopSignal } from './stop-signal.js';
import { TaskIdPipe } from './task-id.pipe.js';
import { toRequest } from './to-request.js';

@Controller('tasks/:taskId/network')
export class NetworksController {
  constructor(
    private readonly attachments: Attachments,
    private readonly networks: LiveNetworks,
    private readonly stopSignal: StopSignal,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Post()
  @DescribeAttach()
  async attach(
    @Param('taskId', TaskIdPipe) taskId: TaskId,
    @Query(new InputPipe(() => NoOptionsDto)) _query: NoOptionsDto,
    @Body(new InputPipe(() => AttachDto)) body: AttachDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NetworkDto> {
    const { created, record, settled } = this.attachments.begin(taskId, toRequest(body, this.settings));
    response.location(`/tasks/${taskId}/network`);
    if (prefersAsync(request.get('prefer')) && record.state !== 'READY') {
      // Nobody waits here: the outcome is told by GET, whose state becomes FAILED with the error, and by the log.
      void Promise.allSettled([settled]);
      response.status(HttpStatus.ACCEPTED).set('preference-applied', 'respond-async');
      return this.networks.view(record);
    }
    const ready = await this.stopSignal.waitFor(settled);
    response.status(created ? HttpStatus.CREATED : HttpStatus.OK);
    return this.networks.view(ready);
  }

  @Get()
  @DescribeRead()
  async read(
    @Param('taskId', TaskIdPipe) taskId: TaskId,
    @Query(new InputPipe(() => ReadOptionsDto)) options: ReadOptionsDto,
  ): Promise<NetworkDto> {
    const record = this.attachments.get(taskId);
    if (record === undefined) throw new TaskEniError('task-not-found', `${taskId} has no network`, { taskId });
    const network = this.networks.view(record);
    if (options.verify !== true) return network;
    return { ...network, drift: await this.stopSignal.waitFor(this.attachments.verify(taskId)) };
  }

  @Delete()
  @DescribeDetach()
  async detach(
    @Param('taskId', TaskIdPipe) taskId: TaskId,
    @Query(new InputPipe(() => DetachOptionsDto)) options: DetachOptionsDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NetworkDto | undefined> {
    const work = this.attachments.detach(taskId, { force: options.force ?? false });
    const record = await this.stopSignal.waitFor(work);
    response.status(record === undefined ? HttpStatus.NO_CONTENT : HttpStatus.OK);
    return record === undefined ? undefined : this.networks.view(record);
  }
}
