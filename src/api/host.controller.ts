import { Controller, Get, Inject, Query } from '@nestjs/common';
import { HostReportDto } from './host.dto.js';
import { DescribeHost } from './host-description.js';
import { HOST_REPORT, type HostReport } from './injection.js';
import { InputPipe } from './input.pipe.js';
import { NoOptionsDto } from './query.dto.js';

@Controller('host')
export class HostController {
  constructor(@Inject(HOST_REPORT) private readonly report: HostReport) {}

  @Get()
  @DescribeHost()
  read(@Query(new InputPipe(() => NoOptionsDto)) _query: NoOptionsDto): Promise<HostReportDto> {
    return this.report();
  }
}
