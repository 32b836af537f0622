/** Milliseconds for the whole call, attempts and credentials included. */
const patience = 15_000;

/**
 * Asks EC2 how many network interfaces the type may have, with the host's own credentials
 * (`ec2:DescribeInstanceTypes`). Throws when EC2 refuses, does not answer, or does not know the type.
 */
export async function describeEniLimit(instanceType: string, region: string): Promise<number> {
  // Loaded on demand: it is the largest of the AWS clients, and most hosts' types are in the table.
  const { EC2Client, DescribeInstanceTypesCommand } = await import('@aws-sdk/client-ec2');
  const client = new EC2Client({
    region,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 2000, requestTimeout: 5000 },
  });
  try {
    const { InstanceTypes } = await client.send(
      new DescribeInstanceTypesCommand({ InstanceTypes: [instanceType as never] }),
      { abortSignal: AbortSignal.timeout(patience) },
    );
    const limit = InstanceTypes?.[0]?.NetworkInfo?.MaximumNetworkInterfaces;
    if (limit === undefined) throw new Error(`EC2 does not say how many ENIs ${instanceType} may have`);
    return limit;
  } finally {
    client.destroy();
  }
}
