import { ApiExtraModels, ApiPropertyOptional, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsBoolean, IsObject, ValidateNested } from 'class-validator';
import {
  AssumeRoleCredentialsDto,
  type CredentialsDto,
  PushedCredentialsDto,
  credentialsClass,
} from './credentials.dto.js';
import { DnsDto } from './dns.dto.js';
import { EniDto } from './eni.dto.js';
import { HasAnyOf, HasOneOf, IsStringMap, MayBeAbsent, NotWith } from './field-validators.js';
import { ContainerSandboxDto, NetnsSandboxDto, PidSandboxDto, type SandboxDto, sandboxClass } from './sandbox.dto.js';

const anObject = { message: 'must be an object' };
const trueOrFalse = { message: 'must be true or false' };

@ApiExtraModels(ContainerSandboxDto, PidSandboxDto, NetnsSandboxDto, AssumeRoleCredentialsDto, PushedCredentialsDto)
@ApiSchema({ name: 'AttachRequest', description: 'The network a task is to have. Only `eni` is required.' })
export class AttachDto {
  /** The ENI to attach. */
  @ValidateNested()
  @Type(() => EniDto)
  @HasAnyOf('id', 'macAddress')
  @IsObject(anObject)
  eni: EniDto;

  /** Whose network namespace the ENI goes into. When left out, the service makes a sandbox and owns it. */
  @ApiPropertyOptional({
    oneOf: [ContainerSandboxDto, PidSandboxDto, NetnsSandboxDto].map((one) => ({ $ref: getSchemaPath(one) })),
  })
  @MayBeAbsent()
  @ValidateNested()
  @Type((at) => sandboxClass(at?.object.sandbox))
  @HasOneOf('containerId', 'pid', 'netns')
  @IsObject(anObject)
  sandbox?: SandboxDto;

  /** Whether 169.254.169.254 and fd00:ec2::254 are out of the task's reach. When left out, as TASK_ENI_BLOCK_INSTANCE_METADATA says. */
  @MayBeAbsent()
  @IsBoolean(trueOrFalse)
  blockInstanceMetadata?: boolean;

  /** Resolver and host name; only for a sandbox that the service makes. */
  @MayBeAbsent()
  @ValidateNested()
  @Type(() => DnsDto)
  @NotWith((body) => body['sandbox'] !== undefined, 'is only for a sandbox that the service makes')
  @IsObject(anObject)
  dns?: DnsDto;

  /** Whether a DHCP client renews the lease of the ENI's addresses; when left out, it does. */
  @MayBeAbsent()
  @IsBoolean(trueOrFalse)
  dhcp?: boolean;

  /**
   * Up to 64 words of the caller's, echoed and usable as a filter.
   * @example {"service":"web"}
   */
  @ApiPropertyOptional({ type: 'object', additionalProperties: { type: 'string', maxLength: 256 }, maxProperties: 64 })
  @MayBeAbsent()
  @IsStringMap({ entries: 64, key: /^[A-Za-z0-9][A-Za-z0-9._/:-]*$/, keyLength: 128, valueLength: 256 })
  labels?: Record<string, string>;

  /** The task's IAM credentials; when left out, the task has none. */
  @ApiPropertyOptional({
    oneOf: [AssumeRoleCredentialsDto, PushedCredentialsDto].map((one) => ({ $ref: getSchemaPath(one) })),
    discriminator: {
      propertyName: 'source',
      mapping: {
        'assume-role': getSchemaPath(AssumeRoleCredentialsDto),
        pushed: getSchemaPath(PushedCredentialsDto),
      },
    },
  })
  @MayBeAbsent()
  @ValidateNested()
  @Type((at) => credentialsClass(at?.object.credentials))
  @IsObject(anObject)
  credentials?: CredentialsDto;
}
