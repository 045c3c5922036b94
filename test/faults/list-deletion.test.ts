import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { reportFault } from '../support/fault-report.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { startInstances } from '../support/instances.ts'
import { type Load, startLoad } from '../support/load-client.ts'
import { watchLockWaits } from '../support/lock-waits.ts'
import { freshDatabase } from '../support/postgres.ts'
import { newTally, retryingClient } from '../support/retrying-client.ts'
import { type JsonRequest, sendJson } from '../support/send-json.ts'

const TASKS = 80_000
const PHASE_MS = 6_000
/** Nobody waits longer for a lock that the deletion holds. */
const MAX_LOCK_WAIT_MS = 200
const SLACK_MS = 200
/** The title of tasks that are created meanwhile. */
const NEIGHBOUR = 'Neighbour'

afterEach(cleanUp)

test(`the deletion of a list with ${TASKS} tasks delays no other request and survives kill -9`, {
  timeout: 500_000,
}, async () => {
  const { connectionString, drop } = await freshDatabase()
  const instances = await startInstances(2, connectionString)
  const database = new pg.Client({ connectionString })
  await database.connect()
  const { projectId, from, to } = await givenLargeList(instances.urls()[0] ?? '', database)
  const load = startLoad({ targets: instances.urls, clients: 4 })
  const neighbours = startNeighbours(instances.urls, { from, to })
  await sleep(2_000)
  const before = await waitsDuring(load, PHASE_MS)

  const locks = await watchLockWaits(connectionString, 'list_deletions')
  const since = performance.now()
  const path = `/api/lists/${from}?moveTo=${to}`
  const [response, during] = await Promise.all([
    call(`${instances.urls()[0]}${path}`, { method: 'DELETE' }),
    waitsDuring(load, PHASE_MS),
  ])
  expect(response.status).toBe(202)
  expect([...load.tally.retries.keys()]).toEqual([])
  await instances.end(0, 'SIGKILL')
  await instances.start(0)
  await load.recovery()
  await load.stop()
  neighbours.slowDown()
  const isThere = await call(`${instances.urls()[1]}/api/lists/${from}`)
  expect(isThere.status).toBe(200)

  await expect
    .poll(async () => (await call(`${instances.urls()[1]}/api/lists/${from}`)).status, {
      timeout: 400_000,
      interval: 500,
    })
    .toBe(404)
  const { waits: lockWaits, stallMs } = await locks.stop()
  const { created, edited, tally } = await neighbours.stop()
  const seconds = Math.round((performance.now() - since) / 1_000)

  expect(load.tally.unexpected).toEqual([])
  expect(tally.unexpected).toEqual([])
  const [longest] = lockWaits.toSorted((a, b) => b.ms - a.ms)
  if (!longest) throw new Error('Nobody waited for a lock of the deletion: nothing was measured.')
  // A machine that stalls makes every wait as much longer.
  expect(longest.ms - stallMs, longest.query).toBeLessThan(MAX_LOCK_WAIT_MS)
  const [usual, slow] = [p99(before), p99(during)]
  expect(slow).toBeLessThan(2 * usual + SLACK_MS)
  const { rows } = await database.query(
    `select list_id, title = '${NEIGHBOUR}' as "isNew", count(*)::int as tasks, min(version) as least,
       sum(version)::int as versions, count(*) filter (where version = 2)::int as moved
     from tasks where project_id = $1 group by 1, 2 order by 2`,
    [projectId],
  )
  expect(rows).toMatchObject([
    { list_id: to, isNew: false, tasks: TASKS, least: 2, versions: 2 * TASKS + edited },
    { list_id: to, isNew: true, tasks: created },
  ])
  const movedNew = rows[1].moved
  const activity = await database.query(
    `select type, count(*)::int, count(distinct task_id)::int as tasks from activity
     where project_id = $1 and (type = 'list.deleted' or metadata->'changes' ? 'listId') group by type order by type`,
    [projectId],
  )
  expect(activity.rows).toEqual([
    { type: 'list.deleted', count: 1, tasks: 0 },
    { type: 'task.updated', count: TASKS + movedNew, tasks: TASKS + movedNew },
  ])
  reportFault({
    fault: `DELETE of a list with ${TASKS.toLocaleString('en')} tasks, kill -9 in the middle`,
    times: 1,
    requests: load.tally.requests,
    retried: [...load.tally.retries.values()].reduce((sum, count) => sum + count, 0),
    longestWaitMs: Math.max(...during),
    note: `longest wait for a lock ${Math.round(longest.ms)} ms; p99 of other clients ${Math.round(slow)} ms, without the fault ${Math.round(usual)} ms; moved in ${seconds} s`,
  })
  await database.end()
  await instances.endAll()
  await drop()
})

/** Clients that work in the project while the list is deleted: in its lists, on its tasks. */
function startNeighbours(targets: () => string[], { from, to }: { from: string; to: string }) {
  const tally = newTally()
  let created = 0
  let edited = 0
  let thinkMs = 10
  let isOn = true
  const running = Array.from({ length: 2 }, async () => {
    const { send, close } = retryingClient(targets, tally)
    while (isOn) {
      for (const listId of [from, to]) {
        const body = { title: NEIGHBOUR, listId }
        const headers = { 'idempotency-key': randomUUID() }
        const { status } = await send({ method: 'POST', path: '/api/tasks', headers, body })
        if (status === 201) created++
        // The list is gone, or about to be.
        else if (listId !== from || status !== 404) tally.unexpected.push(`POST ${status}`)
      }
      // Those that the deletion moves next.
      const path = `/api/tasks?listId=${from}&sort=createdAt&fields=summary&limit=100`
      const page = await send({ method: 'GET', path })
      const next: { id: string; title: string }[] = page.status === 200 ? page.body.data : []
      const old = next.filter(({ title }) => title !== NEIGHBOUR)
      const id = old[Math.floor(Math.random() * old.length)]?.id
      const body = { notes: randomUUID() }
      const edit = id && (await send({ method: 'PATCH', path: `/api/tasks/${id}`, body }))
      if (edit && edit.status === 200) edited++
      else if (edit) tally.unexpected.push(`PATCH ${edit.status}`)
      await sleep(thinkMs * Math.random())
    }
    close()
  })
  return {
    /** The rest of the deletion finds a process that is hardly busy. */
    slowDown() {
      thinkMs = 400
    },
    async stop() {
      isOn = false
      await Promise.all(running)
      return { created, edited, tally }
    },
  }
}

async function givenLargeList(url: string, database: pg.Client) {
  const project = await call(`${url}/api/projects`, { method: 'POST', body: { name: 'Large' } })
  const [from, to] = [
    await call(`${url}/api/projects/${project.body.id}/lists`, { method: 'POST', body: { name: 'From' } }),
    await call(`${url}/api/projects/${project.body.id}/lists`, { method: 'POST', body: { name: 'To' } }),
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

async function call(url: string, request?: JsonRequest) {
  const response = await sendJson(url, request)
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : undefined }
}

/** How long each request of the load took in the meantime. */
async function waitsDuring({ tally }: Load, ms: number): Promise<number[]> {
  const start = tally.waits.length
  await sleep(ms)
  return tally.waits.slice(start)
}

const p99 = (waits: number[]) => waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)] ?? 0
