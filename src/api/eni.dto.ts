import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { Fits, MayBeAbsent, Reads } from './field-validators.js';
import { readEniMac, readGatewayV4, readGatewayV6, readInterfaceV4, readInterfaceV6 } from './field-readers.js';

@ApiSchema({
  name: 'EniRequest',
  description:
    'The ENI to attach: named by `id`, by `macAddress` or by both. What is left out is read from instance metadata; what is given wins.',
})
export class EniDto {
  /**
   * The ENI's id.
   * @example eni-0123456789abcdef0
   */
  @ApiPropertyOptional({ pattern: '^eni-[0-9a-f]{8,17}$' })
  @MayBeAbsent()
  @Fits(/^eni-[0-9a-f]{8,17}$/, 21, 'the id of an ENI, such as eni-0123456789abcdef0')
  id?: string;

  /**
   * The ENI's hardware address, in either case, with `:` or `-`.
   * @example 02:00:00:00:00:01
   */
  @ApiPropertyOptional({ pattern: '^[0-9A-Fa-f][02468ACEace]([:-][0-9A-Fa-f]{2}){5}$' })
  @MayBeAbsent()
  @Reads(readEniMac, 'the hardware address of one interface, such as 02:00:00:00:00:01')
  macAddress?: string;

  /**
   * The ENI's primary IPv4 address with the prefix length of its subnet, /16 to /28.
   * @example 172.31.13.14/20
   */
  @ApiPropertyOptional({ pattern: '^([0-9]{1,3}\\.){3}[0-9]{1,3}/(1[6-9]|2[0-8])$' })
  @MayBeAbsent()
  @Reads(readInterfaceV4, "a host's IPv4 address with a prefix length of /16 to /28, such as 172.31.13.14/20")
  ipv4Address?: string;

  /**
   * IPv4 gateway; when left out, the subnet's first address.
   * @example 172.31.0.1
   */
  @ApiPropertyOptional({ format: 'ipv4' })
  @MayBeAbsent()
  @Reads(readGatewayV4, "a host's IPv4 address, such as 172.31.0.1")
  ipv4Gateway?: string;

  /**
   * The ENI's IPv6 address with the prefix length of its subnet.
   * @example 2001:db8:1::5/64
   */
  @ApiPropertyOptional({ pattern: '^[0-9A-Fa-f:]{2,39}/([1-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$' })
  @MayBeAbsent()
  @Reads(readInterfaceV6, 'a global IPv6 address with a prefix length, such as 2001:db8:1::5/64')
  ipv6Address?: string;

  /**
   * IPv6 gateway, link-local or in the subnet; when left out, it is learnt from router advertisements.
   * @example fe80::1
   */
  @ApiPropertyOptional({ format: 'ipv6' })
  @MayBeAbsent()
  @Reads(readGatewayV6, 'an IPv6 address without a zone, such as fe80::1')
  ipv6Gateway?: string;

  /**
   * Bytes; when left out, the link keeps the MTU it has.
   * @example 9001
   */
  @ApiProperty({ type: 'integer', required: false, minimum: 1280, maximum: 9216 })
  @MayBeAbsent()
  @Max(9216, { message: 'must be a whole number from 1280 to 9216' })
  @Min(1280, { message: 'must be a whole number from 1280 to 9216' })
  @IsInt({ message: 'must be a whole number from 1280 to 9216' })
  mtu?: number;
}
