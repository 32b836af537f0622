/** What a failed call of STS means to whoever asked for the role. Pure. */

export interface StsFailure {
  readonly kind: 'refused' | 'timeout';
  /** A sentence for the caller; never a header, a key or a token. */
  readonly cause: string;
}

/**
 * Errors whose message is told: it names the missing permission or the bad parameter. Others are told by name alone; that
 * of SignatureDoesNotMatch, for one, quotes the signed headers, the host's session token among them.
 */
const toldInFull = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'ValidationError',
  'MalformedPolicyDocument',
  'PackedPolicyTooLarge',
  'RegionDisabledException',
  'ExpiredToken',
  'ExpiredTokenException',
]);
const throttles = /Throttl|RequestLimitExceeded|TooManyRequests|SlowDown/i;
const longestMessage = 400;

interface Failed {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Refused is what asking again will not change: STS said no, or the host has nothing to ask with. */
export function classifyStsError(error: unknown): StsFailure {
  const { name, message, code, $metadata } = (typeof error === 'object' && error !== null ? error : {}) as Failed;
  const called =
    typeof name === 'string' && name !== 'Error' ? name : typeof code === 'string' ? code : 'unknown error';
  const status = $metadata?.httpStatusCode;
  if (called === 'CredentialsProviderError')
    return { kind: 'refused', cause: 'the host has no credentials of its own to assume it with' };
  // How the SDK's configuration says that neither the environment nor the shared files name one.
  if (message === 'Region is missing') return { kind: 'refused', cause: 'no region is known; AWS_REGION names one' };
  if (called === 'AbortError' || called === 'TimeoutError') return { kind: 'timeout', cause: 'no answer in time' };
  if (status === undefined) return { kind: 'timeout', cause: typeof code === 'string' ? code : called };
  if (status >= 500 || status === 429 || throttles.test(called))
    return { kind: 'timeout', cause: `${called} (${status})` };
  return { kind: 'refused', cause: toldInFull.has(called) ? `${called}: ${oneLine(message)}` : called };
}

function oneLine(message: unknown): string {
  return typeof message === 'string' ? message.replace(/\s+/g, ' ').slice(0, longestMessage) : '';
}
