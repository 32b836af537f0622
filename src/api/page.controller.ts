import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { readPage } from './page.js';

/** The page that shows the host live. It holds no data: it asks for the token and calls the API as any other client. */
@Controller()
@ApiExcludeController()
export class PageController {
  private readonly page = readPage();

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  show(@Res() response: Response): void {
    response.set('content-security-policy', this.page.policy).end(this.page.html);
  }
}
