import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const ARCHITECTURE = 'test/architecture.test.ts'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    // A test file waits for PostgreSQL half of its time, so two cores carry one file each and the server.
    maxWorkers: Math.max(2, availableParallelism()),
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      { test: { name: 'architecture', include: [ARCHITECTURE] } },
      {
        test: {
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: [ARCHITECTURE, 'test/e2e/**', 'test/bench/**'],
          globalSetup: ['test/support/postgres-server.ts'],
        },
      },
    ],
  },
})
