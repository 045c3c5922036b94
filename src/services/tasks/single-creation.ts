import { LRUCache } from 'lru-cache'
import { newTask } from '../../domain/new-task.ts'
import { isUnavailable } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import type { KnownResponse } from '../../repositories/claiming-keys.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { KeyedTaskRow, NewTaskRow } from '../../repositories/new-tasks.ts'
import type { NewTask } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'
import { actorOf } from '../activity/row.ts'
import type { Shared } from '../idempotency.ts'
import { namesBlockers } from './blockers.ts'
import { byExternalId, type CreatedTask } from './creation.ts'
import { lengthOf, MAX_STATEMENT_LENGTH } from './statement-size.ts'
import { toTask, writtenFor } from './view.ts'

const MAX_DESTINATIONS = 1_000

/**
 * Creates single tasks outside any transaction; concurrent ones share statements. Returns undefined where a task was not
 * inserted: it names tasks that it is blocked by, its external id is taken, its list does not accept tasks, or its idempotency key is in use. The caller then
 * finds out which.
 */
export function singleCreationOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const { tasks } = repos.within(everywhere)
  const options = {
    name: 'create tasks',
    maxItems: 100,
    // Two at a time, so that PostgreSQL works while this process prepares the next: 1.1 times as fast as one; three are
    // no faster.
    concurrency: 2,
    maxBytes: MAX_STATEMENT_LENGTH,
    bytesOf: ({ row }: NewTaskRow) => lengthOf(row),
    isForAll: isUnavailable,
  }
  const insert = batcher(insertAll, options)
  // These may wait for another transaction that has written the same external id or key; the others need not wait, too.
  const insertWithExternalId = batcher(insertAll, options)
  const insertWithKey = batcher(insertAllWithKeys, {
    ...options,
    bytesOf: ({ row, response }: KeyedTaskRow) => lengthOf(row) + response.body.length,
  })
  // Verified by the statement that inserts.
  const destinations = new LRUCache<string, DestinationRow>({ max: MAX_DESTINATIONS })

  return async function createSingle(
    caller: Caller,
    { input: { listId, ...input }, responseOf }: Shared<NewTask, CreatedTask>,
  ): Promise<CreatedTask | undefined> {
    // These are checked first.
    if (namesBlockers(input)) return undefined
    // An existing task is a response without an effect, which must not be stored.
    if (responseOf && typeof input.externalId === 'string') return undefined
    const place = `${caller.projectId} ${listId}`
    const destination = destinations.get(place) ?? (await repos.within(caller).lists.findDestination(listId))
    if (!destination) return undefined
    destinations.set(place, destination)
    const now = clock.now()
    const row = newTask(input, { id: clock.newId(now), now, destination, actor: actorOf(caller) })
    const created = {
      task: writtenFor(caller, toTask(row, { isBlocked: false })),
      isNew: true,
      isUpdated: false,
    }
    const newRow = { row, activityId: clock.newId(now) }
    if (await insertOne(newRow, responseOf?.(created))) return created
    destinations.delete(place)
    return undefined
  }

  function insertOne(newRow: NewTaskRow, response: KnownResponse | undefined): Promise<boolean> {
    if (response) return insertWithKey({ ...newRow, response })
    return newRow.row.externalId === null ? insert(newRow) : insertWithExternalId(newRow)
  }

  async function insertAll(newTasks: NewTaskRow[]): Promise<boolean[]> {
    const inLockOrder = newTasks.toSorted((a, b) => byExternalId(a.row, b.row))
    const { missing } = await tasks.insertNew(inLockOrder)
    return newTasks.map(({ row }) => !missing.has(row.id))
  }

  async function insertAllWithKeys(newTasks: KeyedTaskRow[]): Promise<boolean[]> {
    const missing = await tasks.insertKeyed(newTasks)
    return newTasks.map(({ row }) => !missing.has(row.id))
  }
}
