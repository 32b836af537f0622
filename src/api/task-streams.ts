import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { Attachments } from '../attachments/attachments.js';
import type { AttachmentRecord } from '../store/record.js';
import { LOGGER } from './injection.js';
import { LiveNetworks } from './live-networks.js';
import type { TaskFilterDto } from './query.dto.js';
import { StopSignal } from './stop-signal.js';
import { matches } from './task-filter.js';

/** Proxies and NATs forget a connection that is silent for a minute. */
const heartbeatMs = 15_000;
/** What may lie unread before the stream ends; its reader connects again and starts from a fresh snapshot. */
const mostUnreadBytes = 4 * 1024 * 1024;

interface Stream {
  readonly response: Response;
  readonly filter: TaskFilterDto;
  /** Hashes of the tasks that its reader has been shown: a filtered one is told when a task leaves its filter. */
  readonly shown: Set<string>;
}

/** Server-sent events (HTML Standard, section 9.2): first a `snapshot` of the listing, then a message for each change of a task. */
@Injectable()
export class TaskStreams {
  private readonly streams = new Set<Stream>();
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly attachments: Attachments,
    private readonly networks: LiveNetworks,
    private readonly stopSignal: StopSignal,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.attachments.onChange((record) => this.publish(record));
    this.stopSignal.onStop(() => this.closeAll());
  }

  open(response: Response, filter: TaskFilterDto): void {
    const records = this.attachments.list().filter((record) => matches(record, filter));
    const stream = { response, filter, shown: new Set(records.map(({ hash }) => hash)) };
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Nginx holds streams back unless told not to.
      'x-accel-buffering': 'no',
    });
    const tasks = records.map((record) => this.networks.view(record));
    response.write(`retry: 2000\nevent: snapshot\ndata: ${JSON.stringify({ tasks })}\n\n`);
    response.on('close', () => this.remove(stream));
    response.on('error', (error) => this.logger.debug({ err: error }, 'a reader of the task stream went away'));
    this.streams.add(stream);
    this.heartbeat ??= setInterval(() => this.writeAll(': still here\n\n'), heartbeatMs).unref();
  }

  private publish(record: AttachmentRecord): void {
    if (this.streams.size === 0) return;
    const event = `data: ${JSON.stringify(this.networks.view(record))}\n\n`;
    for (const stream of this.streams) {
      const visible = matches(record, stream.filter);
      if (!visible && !stream.shown.has(record.hash)) continue;
      if (visible && record.state !== 'DETACHED') stream.shown.add(record.hash);
      else stream.shown.delete(record.hash);
      this.write(stream, event);
    }
  }

  private writeAll(text: string): void {
    for (const stream of this.streams) this.write(stream, text);
  }

  private write(stream: Stream, text: string): void {
    if (stream.response.writableLength > mostUnreadBytes) {
      this.logger.warn('a reader of the task stream is too slow; its stream ends');
      stream.response.destroy();
      return;
    }
    stream.response.write(text);
  }

  private remove(stream: Stream): void {
    this.streams.delete(stream);
    if (this.streams.size > 0) return;
    clearInterval(this.heartbeat);
    this.heartbeat = undefined;
  }

  private closeAll(): void {
    for (const { response } of this.streams) response.end();
  }
}
