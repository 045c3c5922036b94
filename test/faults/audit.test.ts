import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { audit } from '../support/audit.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { type Load, startLoad } from '../support/load-client.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client
let url: string
let load: Load

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  const instances = await startInstances(1, database.connectionString)
  url = instances.urls()[0] ?? ''
  load = startLoad({ targets: instances.urls, clients: 2 })
  const { tasks, batches, events } = load.acknowledged
  while (batches.size < 2 || events.size < 2 || tasks.size < 40) await load.recovery()
  await load.stop()
  expect(load.tally.unexpected).toEqual([])
  // While there are some, the job adds them to the lists, between the damage and its repair, too.
  await vi.waitFor(
    async () => expect((await client.query('select from task_count_changes')).rowCount).toBe(0),
    { timeout: 30_000, interval: 100 },
  )
})
afterAll(async () => {
  await client.end()
  await cleanUp()
  await database.drop()
})

const ONE = (condition: string) => `(select id from tasks where ${condition} order by id limit 1)`
const EDITED = ONE('version > 1')
const EVENT = '(select id from deliveries order by id limit 1)'

describe('the audit at the end of fault tests', () => {
  test('finds nothing where nothing is lost or doubled', async () => {
    await audit({ url, connectionString: database.connectionString, acknowledged: load.acknowledged })
  })

  test.each([
    ['a lost task', `update tasks set deleted_at = now() where id = ${EDITED}`],
    ['a lost edit', `update tasks set notes = 'other' where id = ${EDITED}`],
    ['a version that nothing made', `update tasks set version = version + 1 where id = ${EDITED}`],
    [
      'a change without its time',
      `delete from activity where type <> 'task.created' and task_id = ${EDITED}`,
    ],
    ['a task without activity', `delete from activity where type = 'task.created' and task_id = ${EDITED}`],
    ['a task of half a batch', `update tasks set labels = '{}' where id = ${ONE("title like 'batch %'")}`],
    [
      'a title twice',
      `update tasks set title = (select title from tasks where id <> ${EDITED} limit 1) where id = ${EDITED}`,
    ],
    ['an event without its task', `update deliveries set tasks = '[]' where id = ${EVENT}`],
    ['a lost event', `delete from deliveries where id = ${EVENT}`],
    ['a half-stored response', 'update idempotency_keys set status = null'],
    ['a wrong count', 'update lists set open_count = open_count + 1'],
  ])('finds %s', async (_, damage) => {
    const tables = ['tasks', 'activity', 'deliveries', 'idempotency_keys', 'lists', 'task_count_changes']
    for (const table of tables) await client.query(`create temp table kept_${table} as table ${table}`)
    await client.query("set session_replication_role = 'replica'")
    try {
      expect((await client.query(damage)).rowCount).toBeGreaterThan(0)
      const { connectionString } = database
      await expect(audit({ url, connectionString, acknowledged: load.acknowledged })).rejects.toThrow()
    } finally {
      for (const table of tables) {
        await client.query(`delete from ${table}`)
        await client.query(`insert into ${table} table kept_${table}`)
        await client.query(`drop table kept_${table}`)
      }
    }
  })

  test('finds what was done and never acknowledged, and what was acknowledged and never done', async () => {
    const { connectionString } = database
    const { tasks } = load.acknowledged
    const [[id, task] = ['', undefined]] = tasks
    if (!task) throw new Error('There is no task.')
    tasks.delete(id)
    await expect(audit({ url, connectionString, acknowledged: load.acknowledged })).rejects.toThrow()
    tasks.set(id, task).set('another', task)
    await expect(audit({ url, connectionString, acknowledged: load.acknowledged })).rejects.toThrow()
    tasks.delete('another')
    await audit({ url, connectionString, acknowledged: load.acknowledged })
  })
})
