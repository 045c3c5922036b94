import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLockConflict } from '../../src/db/database-error.ts'
import { sql } from '../../src/db/drizzle.ts'
import { type Database, openDatabase } from '../../src/db/pool.ts'
import { lockConflict } from '../../src/errors/index.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database
beforeAll(async () => {
  database = await freshDatabase()
  db = openDatabase({ connectionString: database.connectionString, size: 4, onError: () => {} })
  await db.execute(sql`create table counters (id int primary key, value int not null)`)
})
afterAll(async () => {
  await db.$client.end()
  await database.drop()
})

const increment = (id: number) => sql`update counters set value = value + 1 where id = ${id}`

/** Resolves for all when `count` of them have called it, and at once afterwards. */
function barrier(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let arrived = 0
  return () => {
    arrived++
    if (arrived === count) resolve()
    return promise
  }
}

describe('a transaction', () => {
  test('is done again after a deadlock, and both have their effect once', async () => {
    await db.execute(sql`insert into counters values (1, 0), (2, 0)`)
    const bothHoldOne = barrier(2)
    const oneIsDone = Promise.withResolvers<void>()
    let attempts = 0
    const incrementBoth = async (first: number, second: number) => {
      await db.transaction(async (tx) => {
        // Before the other one, which waits for the first row, wakes up, both could deadlock once more.
        if (++attempts > 2) await oneIsDone.promise
        await tx.execute(increment(first))
        await bothHoldOne()
        await tx.execute(increment(second))
      })
      oneIsDone.resolve()
    }
    await Promise.all([incrementBoth(1, 2), incrementBoth(2, 1)])
    expect(attempts).toBe(3)
    const { rows } = await db.execute(sql`select id, value from counters where id in (1, 2) order by id`)
    expect(rows).toEqual([
      { id: 1, value: 2 },
      { id: 2, value: 2 },
    ])
  })

  test('that conflicts every time ends, and nothing of it stays', async () => {
    await db.execute(sql`insert into counters values (3, 0)`)
    let attempts = 0
    const error = await db
      .transaction(async (tx) => {
        attempts++
        await tx.execute(increment(3))
        throw lockConflict('Locked too late.')
      })
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'unavailable' })
    expect(isLockConflict(error)).toBe(true)
    expect(attempts).toBe(5)
    const { rows } = await db.execute(sql`select value from counters where id = 3`)
    expect(rows).toEqual([{ value: 0 }])
  })

  test('that fails for another reason is not done again', async () => {
    let attempts = 0
    const work = db.transaction(async (tx) => {
      attempts++
      await tx.execute(sql`select 1 / 0`)
    })
    await expect(work).rejects.toThrow()
    expect(attempts).toBe(1)
  })
})
