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
    reporters: ['default', './test/closing-line.ts'],
  },
});
