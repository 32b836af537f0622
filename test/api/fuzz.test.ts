/** Requests made up from the API's document, against the running service: none may find a 5xx or an answer that is not described. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inCheckout } from '../lab/checkout.js';
import { Lab } from '../lab/lab.js';
import type { ServiceProcess } from '../lab/service-process.js';

/** Made by test/api/install-fuzzer.sh. */
const fuzzer = inCheckout('node_modules/.fuzz/bin/schemathesis');

describe.skipIf(!existsSync(fuzzer))('a fuzzer', () => {
  let lab: Lab;
  let service: ServiceProcess;

  beforeAll(async () => {
    lab = await Lab.create({ name: 'fuzz' });
    service = await lab.startService({ env: { TASK_ENI_ENI_WAIT_SECONDS: '1', TASK_ENI_SANDBOX: 'netns' } });
  });
  afterAll(async () => {
    await service?.stop();
    await lab?.destroy();
  });

  it('finds no fault', { timeout: 300_000 }, async () => {
    const token = readFileSync(service.environment['TASK_ENI_API_TOKEN_FILE'] ?? '', 'utf8').trim();
    const report = join(lab.directory, 'fuzz');
    const options = [
      ['run', inCheckout('openapi/openapi.json'), '--url', 'http://127.0.0.1:51680'],
      ['--header', `Authorization: Bearer ${token}`, '--header', 'Prefer: respond-async'],
      ['--phases', 'examples,coverage,fuzzing', '--max-examples', '25', '--request-timeout', '10', '--seed', '1'],
      // Rules that span fields, and the grammar of IPv6 addresses, are not in the schema; what they refuse is no fault.
      ['--exclude-checks', 'positive_data_acceptance', '--report', 'json', '--report-dir', report],
    ];
    const output = await lab.host.run(fuzzer, ...options.flat());
    rmSync(report, { recursive: true });
    const [, generated, passed] = /(\d+) generated, (\d+) passed/.exec(output) ?? [];
    expect(Number(passed)).toBeGreaterThan(300);
    expect(passed, output).toBe(generated);
    expect(service.logs().filter(({ level = 0 }) => level >= 50)).toEqual([]);
  });
});
