import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** What `check` runs: it reads files alone. */
const ARCHITECTURE = ['architecture/*', 'documents', 'kubernetes', 'vocabulary'].map(
  (name) => `test/${name}.test.ts`,
)

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    // A test file waits for PostgreSQL and for clocks half of its time.
    maxWorkers: Math.max(2, availableParallelism()) + 2,
    // Files share no state but modules, which have none: to load all of them for each file takes a quarter of the time.
    isolate: false,
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      { test: { name: 'architecture', include: ARCHITECTURE } },
      {
        test: {
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: [
            '**/node_modules/**',
            ...ARCHITECTURE,
            'test/e2e/**',
            'test/faults/**',
            'test/histories/**',
            'test/plans/**',
            'test/bench/**',
          ],
          globalSetup: ['test/support/postgres-server.ts'],
        },
      },
    ],
  },
})
