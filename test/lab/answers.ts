/** What the control API answers, as its contract has it; written here anew, so that a change of the product shows. */

export interface Network {
  readonly taskId: string;
  readonly state: string;
  readonly networkMode: string;
  readonly labels: Record<string, string>;
  readonly sandbox: {
    readonly kind: string;
    readonly containerId: string | null;
    readonly pid: number | null;
    readonly netns: string;
    readonly owned: boolean;
  };
  readonly eni: {
    readonly id: string | null;
    readonly macAddress: string;
    readonly interface: string;
    readonly hostInterface: string;
    readonly ipv4Address: string | null;
    readonly ipv4Gateway: string | null;
    readonly ipv6Address: string | null;
    readonly ipv6Gateway: string | null;
    readonly mtu: number;
  };
  readonly linkLocal: {
    readonly bridge: string;
    readonly hostInterface: string;
    readonly interface: string;
    readonly ipv4Address: string;
  };
  readonly blockInstanceMetadata: boolean;
  readonly lease: { readonly client: string | null; readonly state: string; readonly expiresAt: string | null };
  readonly credentials: {
    readonly source: string;
    readonly roleArn: string;
    readonly relativeUri: string;
    readonly expiration: string | null;
  };
  readonly environment: Record<string, string>;
  readonly steps: readonly {
    readonly name: string;
    readonly state: string;
    readonly startedAt: string | null;
    readonly durationMs: number | null;
  }[];
  readonly createdAt: string;
  readonly readyAt: string | null;
  readonly attachMs: number | null;
  readonly warnings: readonly string[];
  readonly error: Problem | null;
  readonly drift: readonly string[];
}

/** RFC 9457. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly taskId: string;
  readonly step: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

export interface Host {
  readonly instanceId: string | null;
  readonly instanceType: string | null;
  readonly availabilityZone: string | null;
  readonly region: string | null;
  readonly version: string;
  readonly sandbox: string;
  readonly eni: {
    readonly limit: number | null;
    readonly limitSource: string;
    readonly attached: number | null;
    readonly tasks: number;
    readonly available: number | null;
  };
  readonly linkLocal: { readonly subnet: string; readonly capacity: number; readonly allocated: number };
  readonly orphans: readonly Record<string, unknown>[];
}

/** A network or a problem: which of the two, the status tells. */
export type NetworkOrProblem = Network & Problem;
