import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** The plans of PostgreSQL at a million tasks. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/plans/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
})
