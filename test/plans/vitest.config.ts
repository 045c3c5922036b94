import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The plans of PostgreSQL at a million tasks. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/plans/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    pool: 'forks',
    // The smaller ones beside that of a million tasks, which takes most of the time.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 600_000,
  },
})
