import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Real processes that are killed, cut and flooded. One file at a time: what they measure is the machine's, not each other's. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'faults',
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts', 'test/support/fault-report.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
