import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray } from 'class-validator';
import { readNameServer } from './field-readers.js';
import { Fits, MayBeAbsent, Reads } from './field-validators.js';

const domain =
  '^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\\.?$';
const hostname = '^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$';

@ApiSchema({
  name: 'DnsRequest',
  description: "Resolver and host name of a sandbox that the service makes; what is left out is the host's own.",
})
export class DnsDto {
  /**
   * Name servers, IPv4 or IPv6.
   * @example ["172.31.0.2"]
   */
  @ApiPropertyOptional({ type: [String], maxItems: 10 })
  @MayBeAbsent()
  @Reads(readNameServer, 'an IP address', { each: true })
  @ArrayMaxSize(10, { message: 'must not have more than 10 entries' })
  @IsArray({ message: 'must be an array' })
  servers?: string[];

  /**
   * Domains in which short names are looked up.
   * @example ["ec2.internal"]
   */
  @ApiPropertyOptional({ type: 'array', maxItems: 32, items: { type: 'string', maxLength: 253, pattern: domain } })
  @MayBeAbsent()
  @Fits(new RegExp(domain), 253, 'a domain name', { each: true })
  @ArrayMaxSize(32, { message: 'must not have more than 32 entries' })
  @IsArray({ message: 'must be an array' })
  search?: string[];

  /**
   * Host name, at most 64 characters (hostname(7)).
   * @example ip-172-31-13-14
   */
  @ApiPropertyOptional({ pattern: hostname, maxLength: 64 })
  @MayBeAbsent()
  @Fits(new RegExp(hostname), 64, 'a host name of at most 64 letters, digits, "-" and "."')
  hostname?: string;
}
