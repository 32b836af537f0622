import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsInt, Max, Min } from 'class-validator';
import { readInstant } from './field-readers.js';
import { Fits, IsStringMap, MayBeAbsent, Reads } from './field-validators.js';

const roleArn = '^arn:aws[a-z-]*:iam::[0-9]{12}:role/([\\x21-\\x7e]*/)?[A-Za-z0-9_+=,.@-]{1,64}$';
const sessionName = '^[A-Za-z0-9_+=,.@-]{2,64}$';
const externalId = '^[A-Za-z0-9_+=,.@:/-]{2,1224}$';
const secret = '^[\\x21-\\x7e]+$';
const role = 'the ARN of an IAM role, such as arn:aws:iam::123456789012:role/app';
const seconds = 'must be a whole number of seconds from 900 to 43200';

@ApiSchema({
  name: 'AssumeRoleCredentials',
  description:
    "A role that the service assumes for the task with the host's own credentials (STS AssumeRole), and renews.",
})
export class AssumeRoleCredentialsDto {
  /** Where the credentials come from. */
  @ApiProperty({ enum: ['assume-role'] })
  @IsIn(['assume-role'], { message: 'must be assume-role or pushed' })
  source: 'assume-role';

  /**
   * The role to assume.
   * @example arn:aws:iam::123456789012:role/app
   */
  @ApiProperty({ pattern: roleArn, maxLength: 2048 })
  @Fits(new RegExp(roleArn), 2048, role)
  roleArn: string;

  /**
   * Name of the role session; when left out, one made from the task id.
   * @example web-1
   */
  @ApiPropertyOptional({ pattern: sessionName })
  @MayBeAbsent()
  @Fits(new RegExp(sessionName), 64, '2 to 64 letters, digits and characters of _+=,.@-')
  sessionName?: string;

  /**
   * Life of each set of credentials, in seconds; when left out, 3600. Above 3600 only when the host's own credentials are not a role's (role chaining).
   * @example 3600
   */
  @ApiProperty({ type: 'integer', required: false, minimum: 900, maximum: 43200 })
  @MayBeAbsent()
  @Max(43_200, { message: seconds })
  @Min(900, { message: seconds })
  @IsInt({ message: seconds })
  durationSeconds?: number;

  /**
   * The external id that the role's trust policy asks for.
   * @example partner-7
   */
  @ApiPropertyOptional({ pattern: externalId })
  @MayBeAbsent()
  @Fits(new RegExp(externalId), 1224, '2 to 1224 letters, digits and characters of _+=,.@:/-')
  externalId?: string;

  /**
   * Session tags, at most 50.
   * @example {"team":"web"}
   */
  @ApiPropertyOptional({ type: 'object', additionalProperties: { type: 'string', maxLength: 256 }, maxProperties: 50 })
  @MayBeAbsent()
  @IsStringMap({
    entries: 50,
    key: /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]+$/iu,
    keyLength: 128,
    value: /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u,
    valueLength: 256,
  })
  tags?: Record<string, string>;
}

@ApiSchema({
  name: 'PushedCredentials',
  description: 'Credentials that the agent hands over and renews itself, as the control plane of ECS does.',
})
export class PushedCredentialsDto {
  /** Where the credentials come from. */
  @ApiProperty({ enum: ['pushed'] })
  @IsIn(['pushed'], { message: 'must be assume-role or pushed' })
  source: 'pushed';

  /**
   * The role whose credentials these are.
   * @example arn:aws:iam::123456789012:role/app
   */
  @ApiProperty({ pattern: roleArn, maxLength: 2048 })
  @Fits(new RegExp(roleArn), 2048, role)
  roleArn: string;

  /**
   * Access key id.
   * @example ASIAIOSFODNN7EXAMPLE
   */
  @ApiProperty({ pattern: '^[A-Za-z0-9_]{16,128}$' })
  @Fits(/^\w{16,}$/, 128, '16 to 128 letters and digits')
  accessKeyId: string;

  /** Secret access key. Never shown, logged or stored on disk. */
  @ApiProperty({ pattern: secret, maxLength: 256, format: 'password', writeOnly: true })
  @Fits(new RegExp(secret), 256, 'a secret access key')
  secretAccessKey: string;

  /** Session token. Never shown, logged or stored on disk. */
  @ApiProperty({ pattern: secret, maxLength: 16384, format: 'password', writeOnly: true })
  @Fits(new RegExp(secret), 16_384, 'a session token')
  sessionToken: string;

  /**
   * When they end, with the offset from UTC (RFC 3339).
   * @example 2030-11-30T12:00:00Z
   */
  @ApiProperty({ format: 'date-time' })
  @Reads(readInstant, 'a date and time such as 2030-11-30T12:00:00Z')
  expiration: string;
}

export type CredentialsDto = AssumeRoleCredentialsDto | PushedCredentialsDto;

/** The class by which credentials of a request are checked. */
export function credentialsClass(credentials: unknown): new () => CredentialsDto {
  const pushed =
    typeof credentials === 'object' &&
    credentials !== null &&
    'source' in credentials &&
    credentials.source === 'pushed';
  return pushed ? PushedCredentialsDto : AssumeRoleCredentialsDto;
}
