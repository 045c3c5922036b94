import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Two files at a time: with three, two cores have no pause, and what waits for half a minute fails now and then. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'e2e',
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: [
      'test/e2e/support/fetch-tools.ts',
      'test/support/postgres-server.ts',
      'test/e2e/support/build-dashboard.ts',
    ],
    pool: 'forks',
    maxWorkers: 2,
    // Generous, because a busy machine is slow.
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
  },
})
