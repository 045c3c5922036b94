import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { newTally, retryingClient } from './retrying-client.ts'

interface WriterOptions {
  random: () => number
  /** Tasks that all writers change. */
  taskIds: string[]
  /** Called after each write. */
  onWritten(): void
  isOver(): boolean
}

const pick = <T>(random: () => number, all: T[]): T => all[Math.floor(random() * all.length)] as T

/** Short transactions: single creates and changes over the API, again after each failure. */
export async function writeOverApi({
  targets,
  random,
  taskIds,
  onWritten,
  isOver,
}: WriterOptions & { targets: () => string[] }): Promise<void> {
  const client = retryingClient(targets, newTally())
  while (!isOver()) {
    if (random() < 0.3) {
      await client.send({
        method: 'POST',
        path: '/api/tasks',
        body: { title: 'One', externalId: randomUUID() },
      })
    } else {
      const path = `/api/tasks/${pick(random, taskIds)}`
      await client.send({ method: 'PATCH', path, body: { title: randomUUID() } })
    }
    onWritten()
    await sleep(random() * 30)
  }
  client.close()
}

/**
 * Long transactions, whose numbers and times are older than what commits before them: each has its number from the
 * beginning, changes a task some time later, and commits or rolls back later still.
 */
export async function writeInLongTransactions({
  connectionString,
  random,
  taskIds,
  onWritten,
  isOver,
}: WriterOptions & { connectionString: string }): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const log = async (type: string, taskId: string | null, metadata: object) =>
    client.query(
      `insert into activity (id, type, task_id, project_id, actor_type, actor_name, metadata, created_at)
       values (gen_random_uuid(), $1, $2, null, 'system', 'a long transaction', $3, now())`,
      [type, taskId, metadata],
    )
  while (!isOver()) {
    await client.query('begin')
    await client.query('select pg_current_xact_id()')
    if (random() < 0.5) await log('long.begun', null, {})
    await sleep(random() * 1_200)
    const id = pick(random, taskIds)
    const to = randomUUID()
    const { rows } = await client.query('select title from tasks where id = $1 for update', [id])
    await client.query(
      'update tasks set title = $2, version = version + 1, updated_at = clock_timestamp() where id = $1',
      [id, to],
    )
    if (random() < 0.3) await client.query('savepoint inner_one')
    await log('task.updated', id, { changes: { title: { from: rows[0].title, to } } })
    await sleep(random() ** 2 * 400)
    await client.query(random() < 0.15 ? 'rollback' : 'commit')
    onWritten()
  }
  await client.end()
}
