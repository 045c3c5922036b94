import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
import { adoptDatabase } from '../../src/services/activity/sequencer.ts'
import { freshDatabase } from '../support/postgres.ts'

const TASK = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database
beforeAll(async () => {
  database = await freshDatabase()
  db = openDatabase({ connectionString: database.connectionString, size: 10, onError: () => {} })
  await adoptDatabase(changes())
})
afterAll(async () => {
  await db.$client.end()
  await database.drop()
})

const changes = () => repositories(db).changes

describe('a list of changes', () => {
  test('has those of a range that match all filters', async () => {
    const client = db.$client
    const [one, other] = [TASK, '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7082']
    for (const [type, project] of [
      ['a', one],
      ['b', one],
      ['a', other],
      ['a', null],
      ['c', one],
      ['a', one],
    ]) {
      await client.query(
        `insert into activity (id, type, project_id, actor_type, actor_name, metadata, created_at)
         values (gen_random_uuid(), $1, $2, 'system', 'test', '{}', now())`,
        [type, project],
      )
    }
    await changes().sequence()
    const all = { after: 0, to: 6, limit: 10 }
    const positions = async (range: object) =>
      (await changes().list({ ...all, ...range })).map(({ position }) => position)

    expect(await positions({})).toEqual([1, 2, 3, 4, 5, 6])
    expect(await positions({ after: 2, to: 4 })).toEqual([3, 4])
    expect(await positions({ limit: 2 })).toEqual([1, 2])
    expect(await positions({ projectIds: [one] })).toEqual([1, 2, 5, 6])
    expect(await positions({ projectIds: [one, other] })).toEqual([1, 2, 3, 5, 6])
    expect(await positions({ types: ['a', 'c'] })).toEqual([1, 3, 4, 5, 6])
    expect(await positions({ projectIds: [one], types: ['a'], after: 1 })).toEqual([6])
  })
})
