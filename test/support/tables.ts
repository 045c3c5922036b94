import pg from 'pg'
import { expect } from 'vitest'

/** The number of rows and a digest of each table of Inlet's own. */
export async function tablesOf(connectionString: string): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query(
    "select tablename from pg_tables where schemaname = 'public' order by 1",
  )
  expect(rows.length).toBeGreaterThan(20)
  const tables: Record<string, unknown> = {}
  for (const { tablename } of rows) {
    const digest = await client.query(
      `select count(*)::int as rows, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest
       from public.${pg.escapeIdentifier(tablename)} as t`,
    )
    tables[tablename] = digest.rows[0]
  }
  await client.end()
  return tables
}
