/** For `npm run db:generate`. */
export default {
  dialect: 'postgresql',
  schema: ['./src/db/tables.ts', './src/db/search-tables.ts', './src/db/name-tables.ts'],
  out: './migrations',
}
