import { LRUCache } from 'lru-cache'
import { changeWhenExisting, type WhenExisting } from '../../domain/existing-task.ts'
import { byExternalId, newTask } from '../../domain/new-task.ts'
import { isUnavailable } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import type { KnownResponse } from '../../repositories/claiming-keys.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { KeyedTaskRow, NewTaskRow } from '../../repositories/new-tasks.ts'
import type { NewTask, NewTaskInBulk } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'
import { actorOf } from '../activity/row.ts'
import type { IdempotencyKey } from '../idempotency.ts'
import { namesBlockers, refusedInputs } from './blockers.ts'
import { type CreatedTask, creationOf } from './creation.ts'
import { lengthOf, MAX_STATEMENT_LENGTH } from './statement-size.ts'
import { toTask, writtenFor } from './view.ts'

const MAX_DESTINATIONS = 1_000

interface SingleCreation extends WhenExisting {
  input: NewTask
  idempotencyKey?: undefined
}

interface KeyedCreation {
  input: NewTask
  idempotencyKey: IdempotencyKey<CreatedTask>
}

interface TogetherCreation {
  listId: NewTask['listId']
  input: NewTaskInBulk
  idempotencyKey: IdempotencyKey<CreatedTask> | undefined
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
  const createMany = creationOf({ repos, clock })

  /**
   * Creates a task, or finds the existing one by externalId. With an idempotency key, stores its response in the same
   * statement; returns undefined if that is impossible, and the task has to be created in the transaction of the key.
   * @throws list_not_found, project_archived, description_read_only, task_not_found for a task that it is blocked by,
   * dependency_cycle
   */
  async function create(caller: Caller, creation: SingleCreation): Promise<CreatedTask>
  async function create(caller: Caller, creation: KeyedCreation): Promise<CreatedTask | undefined>
  async function create(
    caller: Caller,
    { input: { listId, ...input }, idempotencyKey, ...existing }: SingleCreation | KeyedCreation,
  ): Promise<CreatedTask | undefined> {
    const together = await createTogether(caller, { listId, input, idempotencyKey })
    if (together || idempotencyKey) return together
    const [refused] = await refusedInputs(repos.within(caller), { caller, listId, inputs: [input] })
    if (refused) throw refused
    // A list that was sent is one of the fields to update; `input` has the others.
    const changeOf = changeWhenExisting(existing, listId === undefined ? {} : { listId })
    const [created] = await createMany(caller, { listId, inputs: [input], changeOf })
    return created
  }

  return create

  /**
   * Returns undefined where a task was not inserted: it names tasks that it is blocked by, its external id is taken, its
   * list does not accept tasks, or its idempotency key is in use.
   */
  async function createTogether(
    caller: Caller,
    { listId, input, idempotencyKey }: TogetherCreation,
  ): Promise<CreatedTask | undefined> {
    // Blockers are checked first.
    if (!batches || namesBlockers(input)) return undefined
    // An existing task is a response without an effect, which must not be stored.
    if (idempotencyKey && typeof input.externalId === 'string') return undefined
    const { destinations, insert } = batches
    const place = `${caller.projectId} ${listId}`
    const destination = destinations.get(place) ?? (await repos.within(caller).lists.findDestination(listId))
    if (!destination) return undefined
    destinations.set(place, destination)
    const now = clock.now()
    const row = newTask(input, { id: clock.newId(now), now, destination, actor: actorOf(caller) })
    const task = writtenFor(caller, toTask(row, { isBlocked: false }))
    const created = { task, isNew: true, isUpdated: false }
    const newRow = { row, activityId: clock.newId(now) }
    if (await insert(newRow, idempotencyKey?.(created))) return created
    destinations.delete(place)
    return undefined
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

  return {
    destinations: new LRUCache<string, DestinationRow>({ max: MAX_DESTINATIONS }),

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
