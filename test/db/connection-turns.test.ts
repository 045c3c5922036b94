import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isOverShare } from '../../src/db/connection-turns.ts'
import { isDatabaseAway } from '../../src/db/database-error.ts'
import { type Database, openDatabase, poolState } from '../../src/db/pool.ts'
import { ownedBy, type WorkOwner } from '../../src/lib/work-owner.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const opened: Database[] = []
const releases: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(releases.splice(0).map((release) => release()))
  for (const db of opened.splice(0)) await db.$client.end()
})

function open(size: number, waitMs?: number): Database {
  const db = openDatabase({ connectionString: database.connectionString, size, onError: () => {} })
  if (waitMs !== undefined) Object.assign(db.$client.options, { connectionTimeoutMillis: waitMs })
  opened.push(db)
  return db
}

const caller = (name: string): WorkOwner => ({ kind: 'caller', name })
const kind = (kind: WorkOwner['kind']): WorkOwner => ({ kind, name: kind })

/** As many connections as an owner gets while others wait; released at the end. */
async function held(db: Database, owner: WorkOwner, attempts: number) {
  const clients: pg.PoolClient[] = []
  let isOver = false
  const before = db.waiting()
  const waits = Array.from({ length: attempts }, async () => {
    const client = await ownedBy(
      { ...owner, maxWaitMs: 60_000 },
      (): Promise<pg.PoolClient> => db.$client.connect(),
    )
    if (isOver) client.release()
    else clients.push(client)
  })
  await expect.poll(() => clients.length + db.waiting() - before).toBe(attempts)
  const count = clients.length
  const release = async () => {
    isOver = true
    for (const client of clients.splice(0)) client.release()
    await Promise.all(waits)
  }
  releases.push(release)
  return { count, release }
}

const selectOne = (db: Database, owner: WorkOwner) =>
  ownedBy(owner, async () => (await db.execute<{ one: number }>('select 1 as one')).rows[0]?.one)

describe('a pool of connections', () => {
  test.each([
    [2, 1, 1],
    [3, 1, 2],
    [5, 2, 4],
    [10, 4, 7],
    [20, 8, 17],
  ])('of %d gives one caller at most %d, and all callers at most %d', async (size, one, all) => {
    const db = open(size)
    const greedy = await held(db, caller('greedy'), 30)
    expect(greedy.count).toBe(one)
    let count = greedy.count
    for (const name of ['a', 'b', 'c']) count += (await held(db, caller(name), 30)).count
    expect(count).toBe(all)
    // What is not done for a caller has connections of its own.
    for (const each of ['receivers', 'jobs', 'look-ups', 'strangers'] as const) {
      expect(await selectOne(db, kind(each))).toBe(1)
    }
    expect((await db.execute('select')).rowCount).toBe(1)
  })

  test('answers others at once while one caller waits for its own statements', async () => {
    const db = open(10)
    const greedy = await held(db, caller('greedy'), 50)
    expect(await selectOne(db, caller('other'))).toBe(1)
    expect(db.waiting()).toBe(46)
    expect(poolState(db)()).toMatchObject({ waiting: 46, max: 10 })
    await greedy.release()
  })

  test.each(['while others have responses', 'while nobody else does anything'])(
    'refuses who waits too long for his own statements, %s',
    async (which) => {
      const db = open(10, 300)
      const greedy = await held(db, caller('greedy'), 4)
      const refused = selectOne(db, caller('greedy')).catch((error: unknown) => error)
      if (which.includes('others')) expect(await selectOne(db, caller('other'))).toBe(1)
      const error = await refused
      expect(isOverShare(error)).toBe(true)
      expect(isDatabaseAway(error)).toBe(false)
      await greedy.release()
      expect(await selectOne(db, caller('greedy'))).toBe(1)
    },
  )

  test('counts as away where the database does not respond', async () => {
    const network = await startDatabaseProxy(database.connectionString)
    const db = openDatabase({ connectionString: network.connectionString, size: 10, onError: () => {} })
    const greedy = await held(db, caller('greedy'), 4)
    Object.assign(db.$client.options, { connectionTimeoutMillis: 100 })
    network.pause()
    const error = await selectOne(db, caller('greedy')).catch((error: unknown) => error)
    expect(isDatabaseAway(error)).toBe(true)
    expect(isOverShare(error)).toBe(false)
    await greedy.release()
    network.resume()
    await db.$client.end()
    await network.close()
  })

  test('never tells a receiver that it sends too much', async () => {
    const db = open(2, 200)
    // To open the first connection may take longer than the wait.
    await expect.poll(() => selectOne(db, kind('receivers')).catch(() => undefined)).toBe(1)
    const one = await held(db, kind('receivers'), 1)
    const refused = selectOne(db, kind('receivers')).catch((error: unknown) => error)
    expect(await selectOne(db, caller('other'))).toBe(1)
    expect(isDatabaseAway(await refused)).toBe(true)
    await one.release()
  })

  test('passes over those who no longer wait', async () => {
    const db = open(2)
    const mine = await held(db, caller('greedy'), 1)
    const gone = selectOne(db, { ...caller('greedy'), isGone: () => true }).catch((error: unknown) => error)
    const next = selectOne(db, caller('greedy'))
    await expect.poll(db.waiting).toBe(2)
    await mine.release()
    expect(isOverShare(await gone)).toBe(true)
    expect(await next).toBe(1)
  })

  test('loses no connection to statements that fail, or to a server that is away', async () => {
    const db = open(2)
    const failing = () => ownedBy(caller('a'), () => db.execute('select 1 / 0'))
    for (let n = 0; n < 5; n++) await expect(failing()).rejects.toThrow()
    expect(await selectOne(db, caller('a'))).toBe(1)

    const away = openDatabase({ connectionString: 'postgres://127.0.0.1:9/none', size: 2, onError: () => {} })
    const errors = await Promise.all(
      Array.from({ length: 6 }, () => selectOne(away, caller('a')).catch((error: unknown) => error)),
    )
    expect(errors.map(isDatabaseAway)).toEqual(Array(6).fill(true))
    expect(away.waiting()).toBe(0)
    await away.$client.end()
  })

  test('lets nobody wait forever at its end', async () => {
    const db = openDatabase({ connectionString: database.connectionString, size: 2, onError: () => {} })
    const mine = await held(db, caller('a'), 1)
    const waiting = selectOne(db, caller('a')).catch((error: unknown) => error)
    const ended = db.$client.end()
    await mine.release()
    expect(isDatabaseAway(await waiting)).toBe(true)
    await ended
  })

  test('gives a transaction one connection: a second beside it is an error, and one after it is not', async () => {
    const db = open(2)
    const second = ownedBy(caller('a'), () => db.transaction(() => db.execute('select 1')))
    const cause = new Error('A transaction waits for a second connection.')
    await expect(second).rejects.toMatchObject({ cause })
    const nested = await ownedBy(caller('a'), () =>
      db.transaction((tx) => tx.transaction((inner) => inner.execute<{ one: number }>('select 1 as one'))),
    )
    expect(nested.rows).toEqual([{ one: 1 }])
    expect(await selectOne(db, caller('a'))).toBe(1)
  })
})
