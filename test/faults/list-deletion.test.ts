import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { type Load, startLoad } from '../support/careful-client.ts'
import { reportFault } from '../support/fault-report.ts'
import { ADMIN_KEY, cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { freshDatabase } from '../support/postgres.ts'

const TASKS = 80_000
const PHASE_MS = 6_000
/** Nobody waits longer for a lock that the deletion holds; the rest is what the machine does to all. */
const SLACK_MS = 200

afterEach(cleanUp)

test(`the deletion of a list with ${TASKS} tasks holds up nobody and survives kill -9`, {
  timeout: 400_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(2, connectionString)
  const database = new pg.Client({ connectionString })
  await database.connect()
  const { projectId, from, to } = await givenLargeList(instances.urls()[0] ?? '', database)
  const load = startLoad({ targets: instances.urls, clients: 4 })
  await sleep(2_000)
  const before = await waitsDuring(load, PHASE_MS)

  const since = performance.now()
  const path = `/api/lists/${from}?moveTo=${to}`
  const [answer, during] = await Promise.all([
    call(instances.urls()[0] ?? '', 'DELETE', path),
    waitsDuring(load, PHASE_MS),
  ])
  expect(answer.status).toBe(202)
  expect([...load.tally.retries.keys()]).toEqual([])
  await instances.end(0, 'SIGKILL')
  await instances.start(0)
  await load.recovery()
  await load.stop()
  const isThere = await call(instances.urls()[1] ?? '', 'GET', `/api/lists/${from}`)
  expect(isThere.status).toBe(200)

  await expect
    .poll(async () => (await call(instances.urls()[1] ?? '', 'GET', `/api/lists/${from}`)).status, {
      timeout: 300_000,
      interval: 500,
    })
    .toBe(404)
  const seconds = Math.round((performance.now() - since) / 1_000)

  expect(load.tally.unexpected).toEqual([])
  const [usual, slow] = [p99(before), p99(during)]
  expect(slow).toBeLessThan(2 * usual + SLACK_MS)
  const { rows } = await database.query(
    `select list_id, count(*)::int as tasks, min(version) as least, max(version) as most from tasks
     where project_id = $1 group by list_id`,
    [projectId],
  )
  expect(rows).toEqual([{ list_id: to, tasks: TASKS, least: 2, most: 2 }])
  const activity = await database.query(
    `select type, count(*)::int, count(distinct task_id)::int as tasks from activity
     where project_id = $1 and type in ('task.updated', 'list.deleted') group by type order by type`,
    [projectId],
  )
  expect(activity.rows).toEqual([
    { type: 'list.deleted', count: 1, tasks: 0 },
    { type: 'task.updated', count: TASKS, tasks: TASKS },
  ])
  reportFault({
    fault: `DELETE of a list with ${TASKS.toLocaleString('en')} tasks, kill -9 in the middle`,
    times: 1,
    requests: load.tally.requests,
    retried: [...load.tally.retries.values()].reduce((sum, count) => sum + count, 0),
    longestWaitMs: Math.max(...during),
    note: `p99 of the others ${Math.round(slow)} ms, else ${Math.round(usual)} ms; moved in ${seconds} s`,
  })
  await database.end()
  await instances.endAll()
  await drop()
})

async function givenLargeList(url: string, database: pg.Client) {
  const project = await call(url, 'POST', '/api/projects', { name: 'Large' })
  const [from, to] = [
    await call(url, 'POST', `/api/projects/${project.body.id}/lists`, { name: 'From' }),
    await call(url, 'POST', `/api/projects/${project.body.id}/lists`, { name: 'To' }),
  ]
  await database.query(
    `insert into tasks (id, title, description, status, priority, source, project_id, list_id, labels, assignees,
       metadata, created_by_type, created_by_name, created_at, updated_at, version)
     select gen_random_uuid(), 'Task ' || n, repeat('word ', 60), 'open', 1 + n % 3, 'api', $1, $2, '{bug}', '{}',
       '{}', 'system', 'test', now(), now(), 1
     from generate_series(1, $3) as n`,
    [project.body.id, from.body.id, TASKS],
  )
  await database.query('analyze tasks')
  return { projectId: project.body.id, from: from.body.id, to: to.body.id }
}

async function call(url: string, method: string, path: string, body?: object) {
  const answer = await fetch(url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text ? JSON.parse(text) : undefined }
}

/** How long each request of the load took in the meantime. */
async function waitsDuring({ tally }: Load, ms: number): Promise<number[]> {
  const start = tally.waits.length
  await sleep(ms)
  return tally.waits.slice(start)
}

const p99 = (waits: number[]) => waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0
