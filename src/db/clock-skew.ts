interface Connection {
  query(text: string): Promise<{ rows: { ms: number }[] }>
}

/** How far the clock of this machine is ahead of the database's, in milliseconds; negative where it is behind. */
export async function clockSkewOf(connection: Connection): Promise<number> {
  const before = Date.now()
  const { rows } = await connection.query(
    `select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
  )
  const now = (before + Date.now()) / 2
  return now - (rows[0]?.ms ?? now)
}
