import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskSort } from '../../src/schemas/task-query.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { beyond, explaining, PAGE, type Work, workOf } from '../support/plans.ts'
import { freshDatabase } from '../support/postgres.ts'

/*
 * What PostgreSQL reads where all tasks are in one project. Its statistics then say that nothing is in another one, which
 * must not make it read everything.
 */

const TASKS = 60_000
/** Of a list that is deleted, moved in one transaction: each is found, and then written. */
const MAX_AT_ONCE = 1_000

let database: Awaited<ReturnType<typeof freshDatabase>>
let service: TestApp
/** The same service, on connections that plan each statement without its values, as PostgreSQL may. */
let generic: TestApp
let works: Work[] = []

beforeAll(async () => {
  database = await freshDatabase()
  const { connectionString } = database
  const onNotice = (notice: string) => {
    const work = workOf(notice)
    if (work) works.push(work)
  }
  service = await startApp({ connectionString: explaining(connectionString), onNotice })
  const settings = { plan_cache_mode: 'force_generic_plan' }
  generic = await startApp({ connectionString: explaining(connectionString, settings), onNotice })
  await fillProject(connectionString)
}, 120_000)
afterAll(async () => {
  await generic?.close()
  await service?.close()
  await database?.drop()
})

/** Fills the project that every service has, in the state it has after a while: statistics known. */
async function fillProject(connectionString: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  for (const statement of [
    // Without triggers and foreign keys: the same rows in less time.
    'set session_replication_role = replica',
    // In another order than that of their priorities; one in three is open.
    `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
       created_by_type, created_by_name, created_at, updated_at, completed_at, version)
     select uuidv7(make_interval(secs => n - ${TASKS})), 'Task ' || n,
       case n % 3 when 0 then 'open' when 1 then 'in_progress' else 'done' end, 1 + n % 7 % 3, 'api', project_id, id,
       '{}', '{}', '{}', 'system', 'test', now() - make_interval(secs => ${TASKS} - n),
       now() - make_interval(secs => n * 7919::bigint % ${TASKS}), case n % 3 when 2 then now() end, 1
     from lists, generate_series(1, ${TASKS}) as n`,
    `update lists set open_count = ${TASKS} / 3 * 2`,
    'vacuum analyze',
  ])
    await client.query(statement)
  await client.end()
}

describe('where all tasks are in one project', () => {
  test.each(TaskSort)(
    'a page of all projects, sorted by %s, is read in the order of an index',
    async (sort) => {
      for (const app of [service, generic]) {
        works = []
        expect((await app.get(`/api/tasks?sort=${sort}`)).body.data).toHaveLength(50)
        expect(beyond(works, { sorted: 2 * PAGE })).toEqual([])
      }
    },
  )

  test('a page of what is ready is read in the order of an index', async () => {
    for (const app of [service, generic]) {
      works = []
      expect((await app.get('/api/tasks?isReady=true&sort=-priority')).body.data).toHaveLength(50)
      expect(beyond(works)).toEqual([])
    }
  })

  test.each(['in all projects', 'in the list'])(
    'the next task %s is claimed in the order of an index',
    async (place) => {
      const [list] = await service.query('select id from lists')
      const body = place === 'in the list' ? { listId: list.id } : {}
      for (const app of [service, generic]) {
        for (const atOnce of [1, 32]) {
          works = []
          const claims = await Promise.all(
            Array.from({ length: atOnce }, () => app.post('/api/tasks/claim', body)),
          )
          expect(claims.map(({ status }) => status)).toEqual(Array(atOnce).fill(200))
          expect(beyond(works, { sorted: 2 * PAGE })).toEqual([])
        }
      }
    },
  )

  test('the tasks of a deleted list are moved without reading those that were moved before', async () => {
    const [{ id: from, project_id: projectId }] = await service.query('select id, project_id from lists')
    await service.query('update lists set is_default = false')
    await service.query(
      `insert into lists (id, project_id, name, position, is_default, created_at)
       values (gen_random_uuid(), $1, 'Other', 1, true, now())`,
      [projectId],
    )
    const [{ id: to }] = await service.query('select id from lists where is_default')
    works = []
    expect((await service.delete(`/api/lists/${from}?moveTo=${to}`)).status).toBe(202)
    for (let moved = 0; moved < 5 * MAX_AT_ONCE; ) {
      await service.service.lists.workOnDeletions()
      moved = (
        await service.query('select count(*)::integer as tasks from tasks where list_id = $1', [to])
      )[0].tasks
    }
    const isOfTasks = ({ statement }: Work) =>
      statement.includes('"tasks"') && !statement.includes('count(*)')
    expect(beyond(works.filter(isOfTasks), { read: 2 * MAX_AT_ONCE, sorted: MAX_AT_ONCE })).toEqual([])
  })
})
