/** For `npm run db:generate`. */
export default {
  dialect: 'postgresql',
  schema: './src/db/tables/*.ts',
  out: './migrations',
}
