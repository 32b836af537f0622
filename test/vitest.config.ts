import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Tests that make namespaces share one kernel lock (RTNL): side by side they only disturb each other's timing.
    fileParallelism: false,
    reporters: ['default'],
  },
});
