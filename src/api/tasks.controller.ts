import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Attachments } from '../attachments/attachments.js';
import { InputPipe } from './input.pipe.js';
import { LiveNetworks } from './live-networks.js';
import type { TaskListDto } from './network.dto.js';
import { TaskFilterDto } from './query.dto.js';
import { TaskStreams } from './task-streams.js';
import { DescribeList } from './tasks-description.js';
import { matches } from './task-filter.js';

@Controller('tasks')
export class TasksController {
  constructor(
    private readonly attachments: Attachments,
    private readonly networks: LiveNetworks,
    private readonly streams: TaskStreams,
  ) {}

  @Get()
  @DescribeList()
  list(
    @Query(new InputPipe(() => TaskFilterDto)) filter: TaskFilterDto,
    @Req() request: Request,
    @Res() response: Response,
  ): void {
    response.vary('accept');
    if (request.accepts(['json', 'text/event-stream']) === 'text/event-stream') {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      else this.streams.open(response, filter);
      return;
    }
    const records = this.attachments.list().filter((record) => matches(record, filter));
    const list: TaskListDto = { tasks: records.map((record) => this.networks.view(record)) };
    response.json(list);
  }
}
