import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/pool.ts'
import { repositories } from '../../src/repositories/index.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client
let db: ReturnType<typeof openDatabase>
beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  await client.query(LISTS)
  db = openDatabase({ connectionString: database.connectionString, size: 2, onError: () => {} })
})
afterAll(async () => {
  await client.end()
  await db.$client.end()
  await database.drop()
})

const LISTS = `
  with project as (
    insert into projects (id, name, created_at, updated_at)
    select gen_random_uuid(), 'Project ' || n, now(), now() from generate_series(1, 2) as n returning id
  )
  insert into lists (id, project_id, name, position, created_at)
  select gen_random_uuid(), id, 'List', n, now() from project, generate_series(1, 2) as n`

const status = fc.constantFrom('open', 'in_progress', 'done')
const names = fc.constantFrom('{}', '{a}', '{b}', '{B}', '{a,b}')
const instant = fc.constantFrom('now()', 'null')
const title = fc.constantFrom('One', 'Two')

const set = fc.oneof(
  status.map((to) => `status = '${to}', completed_at = ${to === 'done' ? 'now()' : 'null'}`),
  names.map((to) => `labels = '${to}'`),
  names.map((to) => `assignees = '${to}'`),
  instant.map((to) => `deleted_at = ${to}`),
  title.map((to) => `title = '${to}'`),
  title.map((to) => `description = '${to}'`),
  fc.constant('version = version + 1'),
  // Moves between projects as well.
  fc
    .nat(3)
    .map((n) => `(list_id, project_id) = (select id, project_id from lists order by id offset ${n} limit 1)`),
)
const rows = fc.constantFrom(
  'true',
  'id = (select min(id::text)::uuid from tasks)',
  "status = 'done'",
  'deleted_at is null',
  'false',
)
const insert = fc.record({
  count: fc.nat(3),
  status,
  labels: names,
  otherLabels: names,
  assignees: names,
  deleted: instant,
  list: fc.nat(3),
})

const statement = fc.oneof(
  insert.map(
    ({ count, status, labels, otherLabels, assignees, deleted, list }) => `
      insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
        created_by_type, created_by_name, created_at, updated_at, completed_at, deleted_at, version)
      select gen_random_uuid(), 'A', '${status}', 2, 'api', project_id, id, (case n when 2 then '${otherLabels}' else '${labels}' end)::text[],
        '${assignees}', '{}', 'key',
        'test', now(), now(), ${status === 'done' ? 'now()' : 'null'}, ${deleted}, 1
      from (select * from lists order by id offset ${list} limit 1) as list, generate_series(1, ${count}) as n`,
  ),
  fc.tuple(set, rows).map(([set, rows]) => `update tasks set ${set} where ${rows}`),
  rows.map((rows) => `delete from tasks where ${rows}`),
)

/** What one statement adds to the counts that creates a task for each of these labels. */
async function countedFor(labels: string[]) {
  await client.query('begin')
  await client.query('delete from task_count_changes')
  await client.query(
    `insert into tasks (id, title, status, priority, source, project_id, list_id, labels, assignees, metadata,
      created_by_type, created_by_name, created_at, updated_at, version)
    select gen_random_uuid(), 'A', 'open', 2, 'api', project_id, id, labels::text[], '{}', '{}', 'key', 'test', now(),
      now(), 1
    from (select * from lists limit 1) as list, unnest($1::text[]) as labels`,
    [labels],
  )
  const { rows } = await client.query('select sign as tasks, labels from task_count_changes order by ctid')
  await client.query('rollback')
  return rows
}

const WRONG_LISTS = `
  select name from lists where open_count + (
    select coalesce(sum(change), 0) from list_count_changes where list_id = lists.id
  ) <> (select count(*) from tasks where list_id = lists.id and status <> 'done' and deleted_at is null)`

const WRONG_NAMES = `
  select kind, project_id, key, sum(count) as count, sum(open) as open from (
    select kind, project_id, key, task_count as count, open_count as open from task_names
    union all select kind, project_id, lower(name), task_change, open_change from task_name_changes
    union all select 'label', project_id, lower(name), -1, -(status <> 'done')::int
      from tasks, unnest(labels) as name where deleted_at is null
    union all select 'assignee', project_id, lower(name), -1, -(status <> 'done')::int
      from tasks, unnest(assignees) as name where deleted_at is null
  ) as names
  group by kind, project_id, key having sum(count) <> 0 or sum(open) <> 0`

const WRONG_TEXTS = `
  select coalesce(tasks.id, texts.task_id) as id
  from tasks full join task_texts as texts on texts.task_id = tasks.id
  where (texts.title, texts.beginning) is distinct from (lower(tasks.title), lower(left(tasks.description, 1000)))
    and coalesce(tasks.id, texts.task_id) not in (select task_id from task_text_changes)`

describe('tasks that one statement creates', () => {
  test('count together where they count for the same, in the order of the first', async () => {
    expect(await countedFor(['{a}', '{A}', '{a}', '{b,a}', '{a}'])).toEqual([
      { tasks: 3, labels: ['a'] },
      { tasks: 1, labels: ['A'] },
      { tasks: 1, labels: ['b', 'a'] },
    ])
  })

  test('are all counted, also more than one row can count', async () => {
    const counted = await countedFor(Array(33_000).fill('{a}'))
    expect(counted.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(33_000)
  })
})

test('counts and the search index know every write of tasks, of one row or many, aggregated or not', async () => {
  const { taskCounts, taskTexts } = repositories(db)
  const step = fc.oneof(
    { weight: 8, arbitrary: statement },
    { weight: 1, arbitrary: fc.constantFrom('aggregate', 'index') },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      for (const step of steps) {
        if (step === 'aggregate') await taskCounts.aggregate(3)
        else if (step === 'index') await taskTexts.index(3)
        else await client.query(step)
      }
      for (const aggregate of [
        () => taskCounts.aggregate(10_000),
        () => taskTexts.index(10_000),
        undefined,
      ]) {
        for (const wrong of [WRONG_LISTS, WRONG_NAMES, WRONG_TEXTS])
          expect((await client.query(wrong)).rows).toEqual([])
        await aggregate?.()
      }
      expect((await client.query('select from task_count_changes')).rows).toEqual([])
    }),
    { numRuns: 60 },
  )
})
