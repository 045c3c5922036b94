import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { exported, importInto, withTasks } from '../support/exports.ts'

let service: TestApp
let ahead = 0
beforeEach(async () => {
  ahead = 0
  const clock = systemClock()
  service = await startApp({ clock: { ...clock, now: () => new Date(clock.now().getTime() + ahead) } })
  await service.query('alter table tasks set (autovacuum_enabled = off)')
})
afterEach(() => service.close())

const MANY = 2_000

async function givenTasks(count: number) {
  const client = await service.connect()
  // Without this, a connection tells others what it inserted only a second later.
  await client.query(`
    insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
      created_by_type, created_by_name, created_at, updated_at, version)
    select gen_random_uuid(), 'Task ' || n, 'open', 2, 'api', project_id, id, '{}', '{}', '{}', 'system', 'test', now(),
      now(), 1
    from lists, generate_series(1, ${count}) as n;
    select pg_stat_force_next_flush()`)
  client.release()
}

const refresh = () => service.service.statistics.refresh()

/** The tables that were analyzed, and how often. */
const analyzed = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await service.query(
        'select relname, analyze_count::int as count from pg_stat_user_tables where analyze_count > 0',
      )
    ).map(({ relname, count }) => [relname, count]),
  )

/** What the planner knows of deleted tasks. */
const knownOfDeletion = () =>
  service.query(`select null_frac from pg_stats where tablename = 'tasks' and attname = 'deleted_at'`)

async function refreshAll() {
  while (await refresh());
}

describe('after a burst, before any autovacuum', () => {
  test('PostgreSQL learns that tasks are not deleted', async () => {
    await givenTasks(MANY)

    await refreshAll()

    expect(await knownOfDeletion()).toEqual([{ null_frac: 1 }])
  })

  test('a table is analyzed again only when it has grown to a multiple', async () => {
    await givenTasks(MANY)
    await refreshAll()
    await givenTasks(MANY / 2)
    await refreshAll()
    expect(await analyzed()).toMatchObject({ tasks: 1 })

    await givenTasks(5 * MANY)
    await refreshAll()
    expect(await analyzed()).toMatchObject({ tasks: 2 })
  })

  test('one instance analyzes at a time', async () => {
    await givenTasks(MANY)
    const other = await service.connect()
    await other.query('begin; select pg_advisory_xact_lock(7461011)')

    expect(await refresh()).toBe(false)
    expect(await analyzed()).toEqual({})

    await other.query('commit')
    other.release()
    await refreshAll()
    expect(await analyzed()).toMatchObject({ tasks: 1 })
  })
})

test('a small table is left to autovacuum', async () => {
  await givenTasks(100)

  expect(await refresh()).toBe(false)
  expect(await analyzed()).toEqual({})
})

test('an import analyzes what it has filled', async () => {
  const source = await startApp()
  onTestFinished(source.close)
  await source.post('/api/tasks', { title: 'Exported' })
  const text = withTasks(await exported(source), MANY, (nth) => ({ title: `Task ${nth}` }))

  expect((await importInto(service, text)).status).toBe(200)

  expect(await knownOfDeletion()).toEqual([{ null_frac: 1 }])
})

test('a restored dump, whose rows only the building of indexes has counted, is analyzed', async () => {
  await givenTasks(MANY)
  await service.query(`
    alter table tasks reset (autovacuum_enabled); reindex table tasks; alter table tasks set (autovacuum_enabled = off);
    select pg_stat_reset()`)

  await refreshAll()

  expect(await analyzed()).toMatchObject({ tasks: 1 })
})

test('a table that autovacuum works on is left to it', async () => {
  await givenTasks(MANY)
  const other = await service.connect()
  await other.query('begin; lock table tasks in share update exclusive mode')

  await refreshAll()
  expect(await analyzed()).toEqual({})

  await other.query('commit')
  other.release()
  await refreshAll()
  expect(await analyzed()).toMatchObject({ tasks: 1 })
})

test('after a failure, it is tried again in ten minutes', async () => {
  await givenTasks(MANY)
  await service.query('create statistics failing on (1 / (priority - 2)), (priority + 1) from tasks')
  await expect(refresh()).rejects.toThrow()
  await service.query('drop statistics failing')

  ahead = 9 * 60_000
  expect(await refresh()).toBe(false)
  expect(await analyzed()).toEqual({})

  ahead = 11 * 60_000
  await refreshAll()
  expect(await analyzed()).toMatchObject({ tasks: 1 })
})
