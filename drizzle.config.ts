import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./src/db/tables.ts', './src/db/search-tables.ts', './src/db/name-tables.ts'],
  out: './migrations',
})
