/** Who may call, who may assume what, and what was issued: STS without the wire. */
import { randomBytes } from 'node:crypto';
import { type SignedRequest, isSignedWith, parseAmzDate, parseAuthorization } from './sigv4.js';

export class StsError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Somebody whose signature counts. */
export interface Principal {
  readonly arn: string;
  readonly userId: string;
  readonly account: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
  /** Milliseconds since the epoch; null never. */
  readonly expires: number | null;
}

export interface RolePolicy {
  /** AccessDenied for everybody. */
  readonly refused?: boolean;
  readonly externalId?: string;
  /** The role's MaxSessionDuration; 43200 unless given. */
  readonly maxSeconds?: number;
}

export interface AssumeRole {
  readonly roleArn: string;
  readonly sessionName: string;
  readonly durationSeconds: number | null;
  readonly externalId: string | null;
  readonly tags: Record<string, string>;
}

const quarterHour = 15 * 60_000;

export class StsState {
  private readonly principals = new Map<string, Principal>();
  private readonly policies = new Map<string, RolePolicy>();
  private lifetime: number | null = null;

  /** Makes what is issued from now on live so many seconds, whatever was asked for; null: as asked for. */
  setLifetime(seconds: number | null): void {
    this.lifetime = seconds;
  }

  setPolicy(roleArn: string, policy: RolePolicy): void {
    this.policies.set(roleArn, policy);
  }

  know(principal: Principal): void {
    this.principals.set(principal.accessKeyId, principal);
  }

  /** The caller whose key, session token and signature are all right. */
  authenticate(request: SignedRequest): Principal {
    const text = request.headers['authorization'];
    if (typeof text !== 'string')
      throw new StsError(403, 'MissingAuthenticationToken', 'Request is missing Authentication Token');
    const authorization = parseAuthorization(text);
    if (authorization === undefined)
      throw new StsError(400, 'IncompleteSignature', 'The Authorization header is not a Signature Version 4');
    const caller = this.principals.get(authorization.accessKeyId);
    const token = request.headers['x-amz-security-token'] ?? null;
    if (caller === undefined || caller.sessionToken !== token)
      throw new StsError(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
    if (caller.expires !== null && caller.expires <= Date.now())
      throw new StsError(403, 'ExpiredToken', 'The security token included in the request is expired');
    const time = parseAmzDate(String(request.headers['x-amz-date']));
    if (!(Math.abs(Date.now() - time) < quarterHour) || authorization.service !== 'sts')
      throw new StsError(403, 'SignatureDoesNotMatch', 'Signature expired, or not one for sts');
    if (!isSignedWith(caller.secretAccessKey, request, authorization))
      throw new StsError(
        403,
        'SignatureDoesNotMatch',
        'The request signature we calculated does not match the signature you provided.',
      );
    return caller;
  }

  assumeRole(caller: Principal, asked: AssumeRole): Principal {
    const match = /^arn:aws:iam::(\d{12}):role\/(?:[\w+=,.@-]+\/)*([\w+=,.@-]+)$/.exec(asked.roleArn);
    if (match === null) throw invalid(`${asked.roleArn} is invalid`);
    if (!/^[\w+=,.@-]{2,64}$/.test(asked.sessionName))
      throw invalid(`'roleSessionName' ${asked.sessionName} is invalid`);
    const policy = this.policies.get(asked.roleArn) ?? {};
    this.judge(caller, asked, policy);
    const seconds = this.lifetime ?? asked.durationSeconds ?? 3600;
    const roleId = `AROA${id(17)}`;
    const session: Principal = {
      arn: `arn:aws:sts::${match[1]}:assumed-role/${match[2]}/${asked.sessionName}`,
      userId: `${roleId}:${asked.sessionName}`,
      account: match[1] ?? '',
      accessKeyId: `ASIA${id(16)}`,
      secretAccessKey: randomBytes(30).toString('base64'),
      sessionToken: randomBytes(120).toString('base64'),
      // Whole seconds, as the answer says them.
      expires: Math.floor(Date.now() / 1000 + seconds) * 1000,
    };
    this.know(session);
    return session;
  }

  private judge(caller: Principal, asked: AssumeRole, policy: RolePolicy): void {
    const externalIdFits = policy.externalId === undefined || policy.externalId === asked.externalId;
    if (policy.refused || !externalIdFits) {
      const sentence = `User: ${caller.arn} is not authorized to perform: sts:AssumeRole on resource: ${asked.roleArn}`;
      throw new StsError(403, 'AccessDenied', sentence);
    }
    const seconds = asked.durationSeconds ?? 3600;
    if (!(seconds >= 900 && seconds <= 43_200)) throw invalid(`'durationSeconds' ${seconds} is not from 900 to 43200`);
    if (seconds > (policy.maxSeconds ?? 43_200))
      throw invalid('The requested DurationSeconds exceeds the MaxSessionDuration set for this role.');
    if (seconds > 3600 && caller.arn.includes(':assumed-role/'))
      throw invalid(
        'The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.',
      );
  }
}

function invalid(message: string): StsError {
  return new StsError(400, 'ValidationError', message);
}

function id(length: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  return [...randomBytes(length)].map((byte) => letters[byte & 31]).join('');
}
