import pg from 'pg'
import { expect } from 'vitest'
import { ADMIN_KEY } from './inlet-process.ts'
import type { Acknowledged, AcknowledgedTask } from './load-client.ts'

interface AuditOptions {
  /** Of an instance that is running. */
  url: string
  connectionString: string
  acknowledged: Acknowledged
}

/**
 * Compares what the service has with what it acknowledged, over the API and in the database: nothing lost, nothing
 * doubled, nothing half done. Every client has to have ended.
 */
export async function audit({ url, connectionString, acknowledged }: AuditOptions): Promise<void> {
  const there = await everyTask(url)
  const known = acknowledged.tasks
  expect(known.size, 'tasks were acknowledged').toBeGreaterThan(0)
  expect([...known.keys()].filter((id) => !there.has(id))).toEqual([])
  expect([...there].filter(([id]) => !known.has(id))).toEqual([])
  for (const [id, task] of known) expect(there.get(id)).toMatchObject(task)

  await expectConsistent(connectionString)
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const batches = await client.query(
      `select label, count(*)::int as tasks from tasks, unnest(labels) as label where label like 'batch %' group by label`,
    )
    expect(new Map(batches.rows.map(({ label, tasks }) => [label, tasks]))).toEqual(acknowledged.batches)
    const events = await client.query(`select sender_id, tasks -> 0 ->> 'taskId' as task_id from deliveries`)
    expect(new Map(events.rows.map(({ sender_id, task_id }) => [sender_id, task_id]))).toEqual(
      acknowledged.events,
    )
  } finally {
    await client.end()
  }

  const open = [...known.values()].filter(({ status }) => status !== 'done').length
  const { data } = await read<{ data: { openCount: number }[] }>(url, '/api/projects')
  expect(data.reduce((sum, { openCount }) => sum + openCount, 0)).toBe(open)
}

/** Nothing in the database contradicts the rest. */
export async function expectConsistent(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    expect((await client.query(INCONSISTENCIES)).rows).toEqual([NOTHING])
  } finally {
    await client.end()
  }
}

/** The tasks in a database without its service, by id. */
export async function tasksIn(connectionString: string): Promise<Map<string, AcknowledgedTask>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query('select id, title, version, status, notes from tasks')
    return new Map(rows.map(({ id, ...task }) => [id, task]))
  } finally {
    await client.end()
  }
}

const NOTHING = {
  tasks_created_in_no_activity_or_several: 0,
  activity_of_no_task: 0,
  versions_without_activity: 0,
  done_without_a_time: 0,
  titles_twice: 0,
  events_twice: 0,
  feedback_tasks_without_event: 0,
  stored_keys_without_status: 0,
  lists_counted_wrongly: 0,
}

const INCONSISTENCIES = `
  select
    (select count(*)::int from tasks where 1 <> (
      select count(*) from activity where task_id = tasks.id and type = 'task.created'
    )) as tasks_created_in_no_activity_or_several,
    (select count(*)::int from activity where task_id is not null and not exists (
      select from tasks where id = task_id)) as activity_of_no_task,
    (select count(*)::int from tasks where version - 1 <> (
      select count(*) from activity
      where task_id = tasks.id and type in ('task.updated', 'task.completed', 'task.reopened')
    )) as versions_without_activity,
    (select count(*)::int from tasks where (status = 'done') <> (completed_at is not null)) as done_without_a_time,
    (select count(*)::int from (select from tasks group by title having count(*) > 1) as t) as titles_twice,
    (select count(*)::int from (
      select from deliveries group by sender_id having count(*) > 1) as t) as events_twice,
    (select count(*)::int from tasks where source = 'analytics' and 1 <> (
      select count(*) from deliveries where deliveries.tasks -> 0 ->> 'taskId' = tasks.id::text)) as feedback_tasks_without_event,
    (select count(*)::int from idempotency_keys where status is null) as stored_keys_without_status,
    (select count(*)::int from lists where
      open_count + (select coalesce(sum(change), 0) from list_count_changes where list_id = lists.id) <>
      (select count(*) from tasks where list_id = lists.id and status <> 'done' and deleted_at is null)
    ) as lists_counted_wrongly`

async function everyTask(url: string): Promise<Map<string, AcknowledgedTask>> {
  const tasks = new Map<string, AcknowledgedTask>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await read(
      url,
      `/api/tasks?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    for (const task of page.data) {
      expect(tasks.has(task.id), 'a task is on one page only').toBe(false)
      tasks.set(task.id, task)
    }
    cursor = page.nextCursor
  }
  return tasks
}

interface Page {
  data: (AcknowledgedTask & { id: string })[]
  nextCursor: string | null
}

async function read<T>(url: string, path: string): Promise<T> {
  const response = await fetch(url + path, { headers: { 'x-api-key': ADMIN_KEY } })
  expect(response.status).toBe(200)
  return (await response.json()) as T
}
