import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Random histories of changes on both sides of a synced repository. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/histories/**/*.test.ts'],
    globalSetup: ['test/support/postgres-server.ts'],
    pool: 'forks',
    // A file for each property.
    maxWorkers: 2,
    hookTimeout: 120_000,
  },
})
