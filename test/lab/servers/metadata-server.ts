/** Instance metadata as EC2 gives it (Instance Metadata Service version 2, AWS EC2 User Guide), with faults to order. */
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { obey } from './control.js';
import { type Fault, Faults } from './faults.js';
import {
  type Instance,
  type InterfaceFacts,
  type InterfaceKeys,
  type Role,
  interfaceKeys,
  leaves,
  readTree,
} from './metadata-tree.js';

export interface MetadataRequest {
  readonly method: string;
  /** Below `/latest/`, or whole when it is not there. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly token: string | null;
  readonly from: string;
  /** 0: hung, or the client went away. */
  status: number;
}

const faults = new Faults();
const interfaces = new Map<string, InterfaceKeys>();
const tokens = new Map<string, number>();
let requests: MetadataRequest[] = [];
let instance: Instance;
let role: Role | null = null;
let version1 = false;
let servers: Server[] = [];

function answer(request: MetadataRequest, response: ServerResponse, status: number, body = '', headers = {}): void {
  request.status = status;
  response.writeHead(status, { 'Content-Type': 'text/plain', Server: 'EC2ws', ...headers });
  response.end(body);
}

const page = (title: string) =>
  `<?xml version="1.0" encoding="iso-8859-1"?>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;

function refuse(request: MetadataRequest, response: ServerResponse, status: number, title: string): void {
  answer(request, response, status, page(`${status} - ${title}`), { 'Content-Type': 'text/html' });
}

function putToken(message: IncomingMessage, request: MetadataRequest, response: ServerResponse): void {
  const name = 'x-aws-ec2-metadata-token-ttl-seconds';
  const seconds = Number(message.headers[name]);
  if (message.headers['x-forwarded-for'] !== undefined) return refuse(request, response, 403, 'Forbidden');
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 21_600)
    return refuse(request, response, 400, 'Bad Request');
  const token = randomBytes(40).toString('base64');
  tokens.set(token, Date.now() + seconds * 1000);
  answer(request, response, 200, token, { [name]: String(seconds) });
}

function get(request: MetadataRequest, response: ServerResponse): void {
  const expiry = request.token === null ? undefined : tokens.get(request.token);
  const allowed = request.token === null ? version1 : expiry !== undefined && expiry > Date.now();
  if (!allowed) return refuse(request, response, 401, 'Unauthorized');
  const text = readTree(leaves(instance, interfaces, role), interfaces.keys(), request.path);
  if (text === undefined) return refuse(request, response, 404, 'Not Found');
  answer(request, response, 200, text);
}

function serve(message: IncomingMessage, request: MetadataRequest, response: ServerResponse): void {
  if (request.path === 'api/token') {
    if (message.method === 'PUT') return putToken(message, request, response);
    return refuse(request, response, 405, 'Not Allowed');
  }
  if (message.method !== 'GET' && message.method !== 'HEAD') return refuse(request, response, 405, 'Not Allowed');
  get(request, response);
}

function serveFault(fault: Fault, request: MetadataRequest, response: ServerResponse): boolean {
  if (fault.kind === 'delay') return false;
  if (fault.kind === 'not-found') refuse(request, response, 404, 'Not Found');
  if (fault.kind === 'unauthorized') refuse(request, response, 401, 'Unauthorized');
  if (fault.kind === 'error') refuse(request, response, 500, 'Internal Server Error');
  if (fault.kind === 'garbage') answer(request, response, 200, page('Welcome to the captive portal'));
  if (fault.kind === 'empty') answer(request, response, 200, '');
  return true;
}

function take(message: IncomingMessage, response: ServerResponse): void {
  const path = (message.url ?? '').replace(/\?.*$/, '').replace(/^\/latest\//, '');
  const token = message.headers['x-aws-ec2-metadata-token'];
  const request: MetadataRequest = {
    method: message.method ?? '',
    path,
    time: Date.now(),
    token: typeof token === 'string' ? token : null,
    from: message.socket.remoteAddress ?? '',
    status: 0,
  };
  requests.push(request);
  message.resume();
  const fault = faults.hit(path);
  if (fault !== undefined && serveFault(fault, request, response)) return;
  setTimeout(() => serve(message, request, response), fault?.milliseconds ?? 0);
}

function listen(address: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(take).once('error', reject);
    server.listen(80, address, () => resolve(server));
  });
}

const addresses = process.argv.slice(2);

async function start(): Promise<void> {
  if (servers.length === 0) servers = await Promise.all(addresses.map(listen));
}

function stop(): void {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  servers = [];
}

await start();
obey({
  start,
  stop,
  setInstance: (changes: Partial<Instance>) => void (instance = { ...instance, ...changes }),
  setRole: (next: Role | null) => void (role = next),
  addInterface: (facts: InterfaceFacts) => void interfaces.set(facts.mac, interfaceKeys(instance, facts)),
  addStaleInterface: (mac: string) => void interfaces.set(mac, {}),
  removeInterface: (mac: string) => void interfaces.delete(mac),
  setKey: (mac: string, key: string, value: string | null) => {
    const keys = interfaces.get(mac);
    if (keys === undefined) throw new Error(`${mac} is not in metadata`);
    if (value === null) delete keys[key];
    else keys[key] = value;
  },
  fail: (fault: Fault) => faults.add(fault),
  heal: (id: number | null) => faults.remove(id),
  invalidateTokens: () => tokens.clear(),
  allowVersion1: (allowed: boolean) => void (version1 = allowed),
  requests: () => requests,
  resetRequests: () => void (requests = []),
});
