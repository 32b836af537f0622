import { Controller, Get, HttpStatus, Inject, Res } from '@nestjs/common';
import type { Response } from 'express';
import { describeError } from '../errors.js';
import { HealthDto, type PartDto, ReadinessDto } from './health.dto.js';
import { DescribeHealth, DescribeReadiness } from './host-description.js';
import { READINESS, type ReadinessCheck } from './injection.js';

/** A part that has not answered by then counts as down; a prober waits no longer than that. */
const patienceMs = 3000;

@Controller()
export class HealthController {
  constructor(@Inject(READINESS) private readonly checks: readonly ReadinessCheck[]) {}

  @Get('healthz')
  @DescribeHealth()
  health(): HealthDto {
    return { status: 'ok' };
  }

  @Get('readyz')
  @DescribeReadiness()
  async readiness(@Res({ passthrough: true }) response: Response): Promise<ReadinessDto> {
    const parts = await Promise.all(this.checks.map(async (check) => [check.name, await look(check)] as const));
    const ready = parts.every(([, { status }]) => status === 'up');
    if (!ready) response.status(HttpStatus.SERVICE_UNAVAILABLE).set('retry-after', '5');
    return { status: ready ? 'ready' : 'not-ready', parts: Object.fromEntries(parts) };
  }
}

async function look({ check }: ReadinessCheck): Promise<PartDto> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patienceMs} ms`)), patienceMs);
  });
  try {
    await Promise.race([check(), late]);
    return { status: 'up', detail: null };
  } catch (error) {
    return { status: 'down', detail: describeError(error) };
  } finally {
    clearTimeout(timer);
  }
}
