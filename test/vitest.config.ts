import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Tests that make namespaces share one kernel lock (RTNL): side by side they only disturb each other's timing.
    fileParallelism: false,
    // Real parts on a shared machine: a test that a burst of other work made late is given another chance, in CI only.
    retry: process.env['CI'] === 'true' ? 2 : 0,
    reporters: ['default', './test/closing-line.ts'],
  },
});
