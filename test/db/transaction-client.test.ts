import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sql } from '../../src/db/drizzle.ts'
import { type Database, openDatabase } from '../../src/db/pool.ts'
import { preparedStatement } from '../../src/db/prepared-statement.ts'
import { projects } from '../../src/db/tables/projects.ts'
import { freshDatabase } from '../support/postgres.ts'

const LIMITS = sql`
  select current_setting('statement_timeout') as statement,
    current_setting('idle_in_transaction_session_timeout') as idle`

const CANCELLED = { cause: expect.objectContaining({ code: '57014' }) }

let database: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** A pool of one connection, which is to behave as if it led through a pooler. */
async function withPool(work: (db: Database) => Promise<void>, statementMs?: number): Promise<void> {
  const { connectionString } = database
  const urls = { connectionString, directConnectionString: connectionString }
  const db = openDatabase({ ...urls, size: 1, onError() {}, ...(statementMs && { statementMs }) })
  try {
    await work(db)
  } finally {
    await db.$client.end()
  }
}

/** What the session itself has: the driver's own method adds nothing to a query. */
async function inSession(db: Database, text: string): Promise<unknown[]> {
  const client = await db.$client.connect()
  try {
    const { rows } = await pg.Client.prototype.query.call<pg.Client, [string], Promise<pg.QueryResult>>(
      client,
      text,
    )
    return rows
  } finally {
    client.release()
  }
}

describe('a connection through a pooler', () => {
  test('has its limits within each transaction, and leaves nothing in the session', async () => {
    const named = preparedStatement<{ sum: number }>(
      'add',
      sql`select ${sql.placeholder('one')}::int + 1 as sum`,
    )
    await withPool(async (db) => {
      expect((await db.execute(LIMITS)).rows).toMatchObject([{ statement: '10s' }])
      await db.transaction(async (tx) => {
        expect((await tx.execute(LIMITS)).rows).toEqual([{ statement: '10s', idle: '15s' }])
        expect((await named(tx, { one: 1 })).rows).toEqual([{ sum: 2 }])
      })
      expect((await named(db, { one: 2 })).rows).toEqual([{ sum: 3 }])

      expect(await inSession(db, LIMITS_IN_SESSION)).toEqual([{ statement: '0', idle: '0' }])
      expect(await inSession(db, 'select name from pg_prepared_statements')).toEqual([])
    })
  })

  test('ends a slow statement, alone or in a transaction, and can be used again', async () => {
    await withPool(async (db) => {
      const slow = sql`select pg_sleep(${60})`
      await expect(db.execute(slow)).rejects.toMatchObject(CANCELLED)
      await expect(db.execute('select pg_sleep(60)')).rejects.toMatchObject(CANCELLED)
      await expect(db.transaction((tx) => tx.execute(slow))).rejects.toMatchObject(CANCELLED)
      expect((await db.execute(sql`select ${'still'} as here`)).rows).toEqual([{ here: 'still' }])
    }, 200)
  })

  test('commits what succeeds, and rolls back what fails', async () => {
    const project = (name: string) => ({
      id: `00000000-0000-7000-8000-00000000000${name.length}`,
      name,
      createdAt: new Date(),
      updatedAt: new Date(),
    })
    await withPool(async (db) => {
      const [row] = await db.insert(projects).values(project('one')).returning()
      expect(row).toMatchObject({ name: 'one' })
      await expect(db.insert(projects).values(project('one'))).rejects.toThrow()
      const refused = db.transaction(async (tx) => {
        await tx.insert(projects).values(project('three'))
        await tx.transaction((nested) => nested.insert(projects).values(project('one'))).catch(() => {})
        await tx.insert(projects).values(project('four'))
        throw new Error('Refused.')
      })
      await expect(refused).rejects.toThrow('Refused.')
      await db.transaction((tx) => tx.insert(projects).values(project('sixsix')))

      const rows = await db.select({ name: projects.name }).from(projects).orderBy(projects.name)
      expect(rows.map(({ name }) => name).filter((name) => name !== 'Default')).toEqual(['one', 'sixsix'])
    })
  })

  test('begins transactions as they are asked for', async () => {
    await withPool(async (db) => {
      const isolation = db.transaction(
        async (tx) => (await tx.execute(sql`show transaction_isolation`)).rows,
        { isolationLevel: 'repeatable read', accessMode: 'read only' },
      )
      expect(await isolation).toEqual([{ transaction_isolation: 'repeatable read' }])
    })
  })
})

const LIMITS_IN_SESSION = `
  select current_setting('statement_timeout') as statement,
    current_setting('idle_in_transaction_session_timeout') as idle`
