/** Checks a Signature Version 4 by computing it anew (AWS General Reference, "Create a signed AWS API request"). Pure. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Authorization {
  readonly accessKeyId: string;
  readonly date: string;
  readonly region: string;
  readonly service: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export function parseAuthorization(text: string): Authorization | undefined {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, accessKeyId = '', date = '', region = '', service = '', signed = '', signature = ''] = match;
  return { accessKeyId, date, region, service, signedHeaders: signed.split(';'), signature };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

function headerText(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(',').trim().replaceAll(/ +/g, ' ');
}

/** RFC 3986 encoding, which leaves fewer characters as they are than encodeURIComponent does. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function canonicalQuery(query: string): string {
  const pairs = [...new URLSearchParams(query)].map(([key, value]) => `${encode(key)}=${encode(value)}`);
  return pairs.toSorted().join('&');
}

function canonicalRequest(request: SignedRequest, signedHeaders: readonly string[]): string {
  const [path = '/', query = ''] = request.url.split('?', 2);
  const headers = signedHeaders.map((name) => `${name}:${headerText(request.headers[name])}\n`).join('');
  return [request.method, path, canonicalQuery(query), headers, signedHeaders.join(';'), sha256(request.body)].join(
    '\n',
  );
}

/** Whether the request was signed with this secret, and for the service that reads it. */
export function isSignedWith(secret: string, request: SignedRequest, authorization: Authorization): boolean {
  const { date, region, service, signedHeaders, signature } = authorization;
  const mustBeSigned = ['host', 'x-amz-date', 'x-amz-security-token'].filter(
    (name) => request.headers[name] !== undefined,
  );
  if (mustBeSigned.some((name) => !signedHeaders.includes(name))) return false;
  const time = headerText(request.headers['x-amz-date']);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonicalRequest(request, signedHeaders))].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), 'aws4_request');
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'));
}

/** The time of `20261130T120000Z` in ms since the epoch; NaN when it is none. */
export function parseAmzDate(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}
