import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The dashboard in a real browser: two files at a time, each with a browser of its own that waits half of the time. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'e2e',
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts', 'test/e2e/support/built.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Generous: on a machine that is busy a page takes its time, and nothing is shown by that.
    testTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 120_000,
  },
})
