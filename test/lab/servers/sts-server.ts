/** AWS STS's query protocol (API version 2011-06-15): AssumeRole and GetCallerIdentity, for callers whose signature is right. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { obey } from './control.js';
import { type Fault, Faults } from './faults.js';
import { type AssumeRole, type Principal, type RolePolicy, StsError, StsState } from './sts-state.js';

export interface StsCall {
  readonly action: string;
  readonly parameters: Record<string, string>;
  readonly from: string;
  readonly time: number;
  /** Of the caller, once he is known. */
  arn: string | null;
  /** 0: not answered. */
  status: number;
  /** Of the error answered. */
  code: string | null;
}

const state = new StsState();
const faults = new Faults();
let calls: StsCall[] = [];

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function xml(fields: Record<string, string>): string {
  return Object.entries(fields)
    .map(([name, value]) => `<${name}>${escape(value)}</${name}>`)
    .join('');
}

function result(action: string, content: string): string {
  const request = `<ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata>`;
  return `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>${content}</${action}Result>${request}</${action}Response>`;
}

function assumeRoleFrom(parameters: URLSearchParams): AssumeRole {
  const tags: Record<string, string> = {};
  for (let n = 1; parameters.has(`Tags.member.${n}.Key`); n++)
    tags[parameters.get(`Tags.member.${n}.Key`) ?? ''] = parameters.get(`Tags.member.${n}.Value`) ?? '';
  const duration = parameters.get('DurationSeconds');
  return {
    roleArn: parameters.get('RoleArn') ?? '',
    sessionName: parameters.get('RoleSessionName') ?? '',
    durationSeconds: duration === null ? null : Number(duration),
    externalId: parameters.get('ExternalId'),
    tags,
  };
}

function assumeRole(caller: Principal, parameters: URLSearchParams): string {
  const session = state.assumeRole(caller, assumeRoleFrom(parameters));
  const expiration = new Date(session.expires ?? 0).toISOString().replace(/\.\d+/, '');
  const { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken } = session;
  const credentials = xml({ AccessKeyId, SecretAccessKey, SessionToken: sessionToken ?? '', Expiration: expiration });
  const user = xml({ AssumedRoleId: session.userId, Arn: session.arn });
  return result('AssumeRole', `<Credentials>${credentials}</Credentials><AssumedRoleUser>${user}</AssumedRoleUser>`);
}

function perform(caller: Principal, parameters: URLSearchParams): string {
  const action = parameters.get('Action');
  if (action === 'AssumeRole') return assumeRole(caller, parameters);
  if (action === 'GetCallerIdentity')
    return result(action, xml({ Arn: caller.arn, UserId: caller.userId, Account: caller.account }));
  throw new StsError(400, 'InvalidAction', `Could not find operation ${action} for version 2011-06-15`);
}

function failed(fault: Fault, call: StsCall): never {
  if (fault.kind === 'error')
    throw new StsError(500, 'InternalFailure', `${call.action} fails because the lab says so`);
  throw new Error(`STS has no fault of the kind ${fault.kind}`);
}

function answer(call: StsCall, response: ServerResponse, status: number, body: string): void {
  call.status = status;
  response.writeHead(status, { 'Content-Type': 'text/xml', 'x-amzn-RequestId': randomUUID() });
  response.end(body);
}

function serve(message: IncomingMessage, body: string, call: StsCall, response: ServerResponse, fault?: Fault): void {
  try {
    if (fault !== undefined && fault.kind !== 'delay') failed(fault, call);
    const { method = '', url = '', headers } = message;
    const caller = state.authenticate({ method, url, headers, body });
    call.arn = caller.arn;
    answer(call, response, 200, perform(caller, parametersOf(url, body)));
  } catch (error) {
    if (!(error instanceof StsError)) throw error;
    call.code = error.code;
    const type = error.status < 500 ? 'Sender' : 'Receiver';
    const content = xml({ Type: type, Code: error.code, Message: error.message });
    const head = '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">';
    answer(
      call,
      response,
      error.status,
      `${head}<Error>${content}</Error><RequestId>${randomUUID()}</RequestId></ErrorResponse>`,
    );
  }
}

function parametersOf(url: string, body: string): URLSearchParams {
  return new URLSearchParams(body === '' ? url.split('?', 2)[1] : body);
}

function take(message: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  message.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const parameters = Object.fromEntries(parametersOf(message.url ?? '', body));
    const from = (message.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    const call: StsCall = {
      action: parameters['Action'] ?? '',
      parameters,
      from,
      time: Date.now(),
      arn: null,
      status: 0,
      code: null,
    };
    calls.push(call);
    const fault = faults.hit(call.action);
    if (fault?.kind === 'hang') return;
    setTimeout(() => serve(message, body, call, response, fault), fault?.milliseconds ?? 0);
  });
}

const port = Number(process.argv[2]);
await new Promise<void>((resolve) => createServer(take).listen(port, resolve));
obey({
  know: (principal: Principal) => state.know(principal),
  setPolicy: (roleArn: string, policy: RolePolicy) => state.setPolicy(roleArn, policy),
  setLifetime: (seconds: number | null) => state.setLifetime(seconds),
  fail: (fault: Fault) => faults.add(fault),
  heal: (id: number | null) => faults.remove(id),
  calls: () => calls,
  resetCalls: () => void (calls = []),
});
