import { LRUCache } from 'lru-cache'
import { changeWhenExisting, type WhenExisting } from '../../domain/existing-task.ts'
import { byExternalId, newTask, originIn } from '../../domain/new-task.ts'
import { isPastSnooze, refusePastSnooze, withoutPastSnooze } from '../../domain/triage.ts'
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
import type { IdempotencyKey } from '../idempotency.ts'
import { namesBlockers, refusedInputs } from './blockers.ts'
import { type CreatedTask, creationOf } from './creation.ts'
import { lengthOf, MAX_STATEMENT_LENGTH } from './statement-size.ts'
import { toTask, writtenFor } from './view.ts'

const MAX_DESTINATIONS = 1_000

interface SingleCreation<Replay> extends WhenExisting {
  input: NewTask
  idempotencyKey?: IdempotencyKey<CreatedTask, Replay> | undefined
}

export type NewTaskBatches = ReturnType<typeof newTaskBatchesOf>

interface CreationDeps {
  repos: Repositories
  clock: Clock
  /** Absent inside a transaction. */
  batches?: NewTaskBatches | undefined
}

/** Creates single tasks. Outside any transaction, concurrent creates share statements. */
export function singleCreationOf({ repos, clock, batches }: CreationDeps) {
  /**
   * Creates a task, or finds the existing one by externalId; once for an idempotency key.
   * @throws list_not_found, project_archived, description_read_only, task_not_found for a task that it is blocked by,
   * dependency_cycle
   */
  return async function create<Replay = never>(
    caller: Caller,
    { input: { listId, ...given }, idempotencyKey, ...existing }: SingleCreation<Replay>,
  ): Promise<CreatedTask | Replay> {
    const requestedAt = clock.now()
    const input = withoutPastSnooze(given, requestedAt)
    // Blockers are checked first. An existing task is a response without an effect, which must not be stored.
    const mayShare =
      !namesBlockers(input) &&
      !(idempotencyKey && typeof input.externalId === 'string') &&
      // A repeated request has the response of the first one, whose snooze was in the future.
      !isPastSnooze(input, requestedAt)
    const destination = mayShare && (await batches?.destinationOf(caller, listId))
    if (batches && destination) {
      const now = clock.now()
      const row = newTask(input, {
        id: clock.newId(now),
        now,
        destination,
        actor: actorOf(caller),
        origin: originIn(caller.channel),
      })
      const task = writtenFor(caller, toTask(row, { isBlocked: false }))
      const created = { task, isNew: true, isUpdated: false }
      const newRow = { row, activityId: clock.newId(now), isTriageOn: destination.isTriageOn }
      if (await batches.insert(newRow, idempotencyKey?.responseTo(created))) return created
      // Its external id is taken, its list or project was changed, or its idempotency key is in use.
      batches.forget(caller, listId)
    }
    const createAlone = async (repos: Repositories): Promise<CreatedTask> => {
      refusePastSnooze(input, { now: requestedAt })
      const [refused] = await refusedInputs(repos.within(caller), { caller, listId, inputs: [input] })
      if (refused) throw refused
      // A list that was sent is one of the fields to update; `input` has the others.
      const changeOf = changeWhenExisting(existing, listId === undefined ? {} : { listId })
      const [created] = await creationOf({ repos, clock })(caller, { listId, inputs: [input], changeOf })
      return created as CreatedTask
    }
    return idempotencyKey ? idempotencyKey.once(createAlone) : createAlone(repos)
  }
}

/** Batches of concurrent creates, and the lists that they go to: the statement that inserts verifies these. */
export function newTaskBatchesOf({ repos }: { repos: Repositories }) {
  const { newTasks } = repos.within(everywhere)
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
  const insertWithout = batcher(insertAll, options)
  // These may wait for another transaction that has written the same external id or key; the others need not wait, too.
  const insertWithExternalId = batcher(insertAll, options)
  const insertWithKey = batcher(insertAllWithKeys, {
    ...options,
    bytesOf: ({ row, response }: KeyedTaskRow) => lengthOf(row) + response.body.length,
  })

  const destinations = new LRUCache<string, DestinationRow>({ max: MAX_DESTINATIONS })
  const placeOf = ({ projectIds }: Caller, listId: string | undefined) => `${projectIds} ${listId}`

  return {
    async destinationOf(caller: Caller, listId: string | undefined): Promise<DestinationRow | undefined> {
      const place = placeOf(caller, listId)
      const destination =
        destinations.get(place) ?? (await repos.within(caller).lists.findDestination(listId))
      if (destination) destinations.set(place, destination)
      return destination
    },

    /** Its list may not accept tasks any more. */
    forget(caller: Caller, listId: string | undefined): void {
      destinations.delete(placeOf(caller, listId))
    },

    /** Returns whether the task was inserted. */
    insert(newRow: NewTaskRow, response: KnownResponse | undefined): Promise<boolean> {
      if (response) return insertWithKey({ ...newRow, response })
      return newRow.row.externalId === null ? insertWithout(newRow) : insertWithExternalId(newRow)
    },
  }

  async function insertAll(rows: NewTaskRow[]): Promise<boolean[]> {
    const { missing } = await newTasks.insert(rows.toSorted((a, b) => byExternalId(a.row, b.row)))
    return rows.map(({ row }) => !missing.has(row.id))
  }

  async function insertAllWithKeys(rows: KeyedTaskRow[]): Promise<boolean[]> {
    const missing = await newTasks.insertKeyed(rows)
    return rows.map(({ row }) => !missing.has(row.id))
  }
}
