import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isDatabaseAway } from '../../src/db/database-error.ts'
import { migrate } from '../../src/db/migrate.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { migrateUpTo, newDatabase, OLD_TASK, WAITING } from '../support/old-databases.ts'
import { withAdmin } from '../support/postgres.ts'

describe('a database that does not respond', () => {
  test('when it is connected to fails the migration in bounded time', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(async () => void server.close())
    const { port } = server.address() as AddressInfo

    const migrated = migrate(`postgres://inlet@127.0.0.1:${port}/inlet`, { silenceMs: SILENCE_MS })

    await expect(migrated).rejects.toThrow('no response from the database for 0.5 s')
    await migrated.catch((error) => expect(isDatabaseAway(error)).toBe(true))
  })

  test('while another instance migrates fails the migration in bounded time', async () => {
    const connectionString = await newDatabase()
    const proxy = await startDatabaseProxy(connectionString)
    onTestFinished(async () => proxy.close())
    await withAdmin(connectionString, async (other) => {
      await other.query(`select pg_advisory_lock(${START_LOCK})`)
      const migrated = migrate(proxy.connectionString, { silenceMs: SILENCE_MS })
      migrated.catch(() => {})
      // Not by waiting for a lock, and for longer than the database may be silent.
      await wait(2 * SILENCE_MS)
      while (!(await other.query(ASKING_FOR_START_LOCK)).rowCount);

      proxy.pause()

      await expect(migrated).rejects.toThrow('no response from the database for 0.5 s')
    })
  })

  test('is not waited for by a process that ends while another instance migrates', async () => {
    const connectionString = await newDatabase()
    const ending = new AbortController()
    await withAdmin(connectionString, async (other) => {
      await other.query(`select pg_advisory_lock(${START_LOCK})`)
      const migrated = migrate(connectionString, { signal: ending.signal })
      migrated.catch(() => {})
      while (!(await other.query(ASKING_FOR_START_LOCK)).rowCount);

      ending.abort()

      await expect(migrated).rejects.toThrow('aborted')
    })
  })

  test('during a migration fails it, although its connection stays open', async () => {
    const connectionString = await newDatabase()
    const proxy = await startDatabaseProxy(connectionString)
    onTestFinished(async () => proxy.close())
    await withAdmin(connectionString, async (slowReader) => {
      await migrateUpTo(connectionString, '0006_codehost')
      await slowReader.query('begin; lock table tasks in access share mode')
      const migrated = migrate(proxy.connectionString, {
        silenceMs: SILENCE_MS,
        watchdog: { intervalMs: 100, deadlineMs: 1_000 },
      })
      migrated.catch(() => {})
      while (!(await slowReader.query(WAITING)).rowCount);

      proxy.pause()

      await expect(migrated).rejects.toThrow('it did not respond for 1 s during a migration')
      // A retry at once would not help.
      await migrated.catch((error) => expect(isDatabaseAway(error)).toBe(false))
    })
  })

  test('may take as long as it needs for a statement of a migration', { timeout: 60_000 }, async () => {
    const connectionString = await newDatabase()
    await migrateUpTo(connectionString, '0010_shown_rules_order')
    await withAdmin(connectionString, (client) => client.query(OLD_TASK))
    await withAdmin(connectionString, async (slowReader) => {
      await slowReader.query('begin; select from tasks')
      const migrated = migrate(connectionString, {
        silenceMs: SILENCE_MS,
        watchdog: { intervalMs: 100, deadlineMs: 2_000 },
      })
      migrated.catch(() => {})
      while (!(await slowReader.query(WAITING)).rowCount);
      await wait(2_200)
      expect((await slowReader.query(WAITING)).rowCount).toBe(1)
      await slowReader.query('rollback')
      await migrated
    })
  })
})

const SILENCE_MS = 500

const START_LOCK = 7_461_001

const ASKING_FOR_START_LOCK = `
  select from pg_stat_activity
  where datname = current_database() and application_name = 'inlet start' and query like '%pg_try_advisory_lock%'`
