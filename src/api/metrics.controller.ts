import { Controller, Get, Header, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Metrics } from '../metrics/metrics.js';
import { DescribeMetrics } from './host-description.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Header('cache-control', 'no-store')
  @DescribeMetrics()
  async expose(@Res() response: Response): Promise<void> {
    const { registry } = this.metrics;
    response.setHeader('content-type', registry.contentType);
    response.end(await registry.metrics());
  }
}
