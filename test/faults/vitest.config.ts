import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** What compares times: alone, after all others. */
const TIMED = [
  'bodies',
  'bulk-responses',
  'dead-webhooks',
  'greedy-callers',
  'list-deletion',
  'long-rules',
  'looping-source',
  'many-large-batches',
  'thousand-slow-clients',
].map((name) => `test/faults/${name}.test.ts`)

const limits = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 20_000 } } }

/** Real processes that are killed, cut and flooded. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    globalSetup: ['test/support/postgres-server.ts', 'test/support/fault-report.ts'],
    pool: 'forks',
    projects: [
      {
        test: {
          ...limits,
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          exclude: TIMED,
          // They wait most of the time.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...limits, name: 'timed', include: TIMED, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
