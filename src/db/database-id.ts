/** Differs between clusters, and between databases of one. */
export const DATABASE_ID = `(
  (select system_identifier from pg_control_system()) || '/' || (select oid from pg_database where datname = current_database()))`

interface Connection {
  query(text: string): Promise<{ rows: { id: string }[] }>
}

/** The ID of the database that a connection leads to. */
export async function databaseIdOf(connection: Connection): Promise<string> {
  const { rows } = await connection.query(`select ${DATABASE_ID} as id`)
  return rows[0]?.id ?? ''
}
