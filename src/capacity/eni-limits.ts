import table from './eni-limits.json' with { type: 'json' };

/** What EC2 publishes of an instance type (DescribeInstanceTypes; branch ENIs: the VPC resource controller's list). */
export interface EniLimits {
  /** Network interfaces over all network cards. */
  readonly maxEnis: number;
  /** Branch (VLAN) interfaces once the trunk is on; null when nothing is published for the type. */
  readonly branchEnis: number | null;
  /** Network cards; the interfaces are spread over them evenly. */
  readonly cards: number;
}

type Row = { readonly maxEnis: number; readonly branchEnis: number | null; readonly cards?: number };

const rows: ReadonlyMap<string, Row> = new Map(Object.entries<Row>(table.instanceTypes));

/** The day on which the table was true, as `YYYY-MM-DD`. */
export const limitsAsOf: string = table.asOf;

/** The published limits of a type; undefined for one that the table does not have. */
export function eniLimits(instanceType: string): EniLimits | undefined {
  const row = rows.get(instanceType);
  return row === undefined ? undefined : { ...row, cards: row.cards ?? 1 };
}
