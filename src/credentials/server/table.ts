import { type Answer, answer } from './answers.js';
import type { Entry } from './messages.js';

/** An entry as it is answered: the answer is written once, when the credentials come. */
export interface Served {
  readonly id: string;
  readonly taskId: string;
  readonly address: string;
  /** Milliseconds since the epoch; `answer` is not given from then on. */
  readonly expiration: number;
  readonly answer: Answer | null;
}

/** Which id belongs to which task, and which task to which address. Pure but for what it keeps. */
export class CredentialsTable {
  /** Whether every task is known. Until then an unknown id may be that of a task of before a restart. */
  complete = false;
  private readonly byId = new Map<string, Served>();
  private readonly byAddress = new Map<string, Served>();

  get(id: string): Served | undefined {
    return this.byId.get(id);
  }

  /** The task whose requests come from the address. */
  at(address: string): Served | undefined {
    return this.byAddress.get(address);
  }

  /** Enters or replaces an id. Whoever had the address before is forgotten: an address has one task. */
  put(entry: Entry): void {
    const former = this.byAddress.get(entry.address);
    if (former !== undefined) this.forget(former.id);
    this.forget(entry.id);
    const served = serve(entry);
    this.byId.set(served.id, served);
    this.byAddress.set(served.address, served);
  }

  /** Gives the address that the id was bound to. */
  forget(id: string): string | undefined {
    const served = this.byId.get(id);
    if (served === undefined) return undefined;
    this.byId.delete(id);
    this.byAddress.delete(served.address);
    return served.address;
  }
}

function serve({ id, taskId, address, credentials }: Entry): Served {
  if (credentials === null) return { id, taskId, address, expiration: 0, answer: null };
  const body = JSON.stringify({
    RoleArn: credentials.roleArn,
    AccessKeyId: credentials.accessKeyId,
    SecretAccessKey: credentials.secretAccessKey,
    Token: credentials.sessionToken,
    Expiration: formatExpiration(credentials.expiration),
  });
  return { id, taskId, address, expiration: credentials.expiration, answer: answer(200, body) };
}

/** `YYYY-MM-DDTHH:MM:SSZ`, rounded down: strict RFC 3339 parsers in SDKs refuse a fraction of a second. */
export function formatExpiration(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
