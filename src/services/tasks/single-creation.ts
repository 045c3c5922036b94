import { LRUCache } from 'lru-cache'
import { newTask } from '../../domain/new-task.ts'
import { isUnavailable } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { NewTaskRow } from '../../repositories/new-tasks.ts'
import type { NewTask } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { actorOf } from '../activity/row.ts'
import {
  byExternalId,
  type CreatedTask,
  lengthOf,
  MAX_STATEMENT_LENGTH,
  writableDestination,
} from './creation.ts'
import { toWrittenItem } from './left-out.ts'

const MAX_DESTINATIONS = 1_000

/**
 * Creates single tasks outside any transaction; concurrent ones share statements. Returns undefined where a task was not
 * inserted: its external id is taken, or its list does not accept tasks. The caller then finds out which.
 */
export function singleCreationOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const insertAll = async (newTasks: NewTaskRow[]): Promise<boolean[]> => {
    const inLockOrder = newTasks.toSorted((a, b) => byExternalId(a.row, b.row))
    const { missing } = await repos.within(everywhere).tasks.insertNew(inLockOrder)
    return newTasks.map(({ row }) => !missing.has(row.id))
  }
  const options = {
    maxItems: 100,
    // Two at a time, so that PostgreSQL works while this process prepares the next: 1.1 times as fast as one; three are
    // no faster.
    concurrency: 2,
    maxBytes: MAX_STATEMENT_LENGTH,
    bytesOf: ({ row }: NewTaskRow) => lengthOf(row),
    isForAll: isUnavailable,
  }
  const insert = batcher(insertAll, options)
  // These may wait for another transaction that has written the same external id. The others need not wait with them.
  const insertWithExternalId = batcher(insertAll, options)
  // Verified by the statement that inserts.
  const destinations = new LRUCache<string, DestinationRow>({ max: MAX_DESTINATIONS })

  return async function createSingle(
    caller: Caller,
    { listId, ...input }: NewTask,
  ): Promise<CreatedTask | undefined> {
    const place = `${caller.projectId} ${listId}`
    const destination = destinations.get(place) ?? (await writableDestination(repos.within(caller), listId))
    destinations.set(place, destination)
    const now = clock.now()
    const row = newTask(input, { id: clock.newId(now), now, destination, actor: actorOf(caller) })
    const insertOne = row.externalId === null ? insert : insertWithExternalId
    const isCreated = await insertOne({ row, activityId: clock.newId(now) })
    if (isCreated) return { ...toWrittenItem(caller, row), isNew: true }
    destinations.delete(place)
    return undefined
  }
}
