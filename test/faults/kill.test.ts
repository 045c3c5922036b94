import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import {
  ADMIN_KEY,
  cleanUp,
  connectionStringOf,
  type Inlet,
  killServer,
  newDataDir,
  spawnInlet,
} from '../support/inlet-process.ts'
import { sendJson } from '../support/send-json.ts'

const CLIENTS = 8
const BATCH = 20

const NODE = { killDatabase: async () => undefined }
const BOTH = { killDatabase: killServer }
const KILLS = [NODE, BOTH, NODE, BOTH]

afterEach(cleanUp)

test('what got a 201 survives each SIGKILL, of Node alone and of PostgreSQL too, and is complete', {
  timeout: 90_000,
}, async () => {
  const dataDir = await newDataDir()
  const acknowledged = new Set<string>()
  for (const { killDatabase } of KILLS) {
    const inlet = spawnInlet({ dataDir })
    const url = await inlet.url
    const before = acknowledged.size

    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      createWithoutPause(url, { client, acknowledged }),
    )
    // In the middle of something, and not before there is something to lose.
    while (acknowledged.size < before + BATCH) await sleep(5)
    await sleep(400 * Math.random())
    inlet.process.kill('SIGKILL')
    await killDatabase(dataDir)
    await Promise.all([...clients, inlet.ended])
  }

  const inlet = spawnInlet({ dataDir })
  const there = await everyTask(await inlet.url)
  expect([...acknowledged].filter((id) => !there.has(id))).toEqual([])
  await nothingIsHalfDone(dataDir)
  await createsAndEnds(inlet)
})

/** Until the process is gone. Every fourth client sends whole batches. */
async function createWithoutPause(
  url: string,
  { client, acknowledged }: { client: number; acknowledged: Set<string> },
) {
  try {
    const { listId } = await create(`${url}/api/tasks`, { title: 'Which list is it?' })
    for (;;) {
      if (client % 4 === 3) {
        const tasks = Array.from({ length: BATCH }, () => ({ title: 'One of a batch' }))
        const label = `batch-${randomUUID()}`
        const made = await create(`${url}/api/tasks/bulk`, {
          listId,
          tasks: tasks.map((task) => ({ ...task, labels: [label] })),
        })
        for (const { id } of made.data) acknowledged.add(id)
      } else {
        acknowledged.add((await create(`${url}/api/tasks`, { title: 'Single', externalId: randomUUID() })).id)
      }
    }
  } catch (error) {
    // The kill, as the client sees it; everything else is an error.
    expect(error).toBeInstanceOf(TypeError)
  }
}

async function create(url: string, body: object) {
  const response = await sendJson(url, { method: 'POST', body })
  const text = await response.text()
  if (response.status !== 201) throw new Error(`${url} was acknowledged ${response.status}: ${text}`)
  return JSON.parse(text)
}

async function everyTask(url: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await fetch(
      `${url}/api/tasks?fields=summary&limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      { headers: { 'x-api-key': ADMIN_KEY } },
    )
    const page = (await response.json()) as { data: { id: string }[]; nextCursor: string | null }
    for (const { id } of page.data) ids.add(id)
    cursor = page.nextCursor
  }
  return ids
}

async function nothingIsHalfDone(dataDir: string) {
  const client = new pg.Client({ connectionString: await connectionStringOf(dataDir) })
  await client.connect()
  const { rows } = await client.query(`
    SELECT
      (SELECT count(*)::int FROM tasks WHERE 1 <> (
        SELECT count(*) FROM activity WHERE task_id = tasks.id AND type = 'task.created')) AS tasks_without_activity,
      (SELECT count(*)::int FROM activity WHERE type = 'task.created' AND task_id NOT IN (
        SELECT id FROM tasks)) AS activities_without_task,
      (SELECT count(*)::int FROM (
        SELECT FROM tasks WHERE labels <> '{}' GROUP BY labels HAVING count(*) <> ${BATCH}) AS torn) AS torn_batches,
      (SELECT count(*) FROM tasks WHERE status <> 'done')
        = (SELECT sum(open_count) FROM lists)
        + (SELECT coalesce(sum(change), 0) FROM list_count_changes) AS is_counted`)
  await client.end()
  expect(rows).toEqual([
    { tasks_without_activity: 0, activities_without_task: 0, torn_batches: 0, is_counted: true },
  ])
}

async function createsAndEnds(inlet: Inlet) {
  await create(`${await inlet.url}/api/tasks`, { title: 'Life goes on' })
  inlet.process.kill('SIGTERM')
  expect(await inlet.ended).toMatchObject({ code: 0 })
}
