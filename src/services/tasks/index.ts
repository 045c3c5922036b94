import { decodeCursor, encodeCursor } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import { rankOf } from '../../domain/priority.ts'
import { decideChange } from '../../domain/task-change.ts'
import { type TaskOrder, taskOrderOf } from '../../domain/task-order.ts'
import { isPastRetention, TRASH_RETENTION_MS } from '../../domain/trash.ts'
import { listNotFound, projectNotFound, taskNotFound } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { TaskFilter, TaskPageRequest } from '../../repositories/task-pages.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { NewTask, Task, TaskChange, TaskListItem, TaskQuery, WrittenTask } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import type { Shared } from '../idempotency.ts'
import { type Page, type PageJson, readPage } from '../page.ts'
import { type AllowedVersions, refuseStale } from '../versions.ts'
import { bulkChangesOf } from './bulk-change.ts'
import { type CreatedTask, creationOf, writableDestination } from './creation.ts'
import { READ_BATCH, type WrittenItem, wholeTasks } from './left-out.ts'
import { lockTasks, writableTask } from './locks.ts'
import type { singleCreationOf } from './single-creation.ts'
import type { singleUpdateOf } from './single-update.ts'
import { toTask, toTaskListItem, writtenFor } from './view.ts'

/** About 15 ms of the database's time. */
const INDEX_BATCH = 25

export const taskOperations = {
  create: { scope: 'tasks:write' },
  createMany: { scope: 'tasks:write' },
  list: { scope: 'tasks:read' },
  get: { scope: 'tasks:read' },
  update: { scope: 'tasks:write' },
  updateMany: { scope: 'tasks:write' },
  delete: { scope: 'tasks:write' },
  restore: { scope: 'tasks:write' },
} satisfies Operations<ReturnType<typeof tasksService>>

export function tasksService({ repos, clock, createSingle, updateSingle }: TasksDeps) {
  const createMany = creationOf({ repos, clock })

  return {
    /** @throws list_not_found, project_archived */
    async create(caller: Caller, input: NewTask): Promise<CreatedTask> {
      const single = await createSingle?.(caller, { input })
      if (single) return single
      const { listId, ...rest } = input
      const [created] = await createMany(caller, { listId, inputs: [rest] })
      return created as CreatedTask
    },

    /**
     * Creates a task, and stores the response for the request's idempotency key, together with others. Returns undefined
     * if it has to be created in a transaction of its own.
     */
    createShared: (caller: Caller, shared: Required<Shared<NewTask, CreatedTask>>) =>
      createSingle?.(caller, shared),

    createMany,

    /** @throws task_not_found */
    async get(caller: Caller, id: string): Promise<Task> {
      const row = await repos.within(caller).tasks.find(id)
      if (!row) throw taskNotFound(id)
      return toTask(row)
    },

    /** @throws project_not_found, list_not_found, invalid_cursor */
    async list(caller: Caller, query: TaskQuery): Promise<Page<TaskListItem>> {
      return readRows(await reachedPlace(caller, query), query)
    },

    /**
     * The same page as JSON text that PostgreSQL made, unless it is large or filtered by more than its place.
     * @throws project_not_found, list_not_found, invalid_cursor
     */
    async listJson(caller: Caller, query: TaskQuery): Promise<PageJson | Page<TaskListItem>> {
      const { limit = 50, cursor } = query
      const order = taskOrderOf(query)
      const { name: sort, isKey } = order
      const after = cursor === undefined ? undefined : decodeCursor(cursor, { sort, isKey })
      const bound = await reachedPlace(caller, query)
      const page = await bound.tasks.listJson(...pageOf(query, { order, after, limit: limit + 1 }))
      if (!page || page.items === null) return readRows(bound, query)
      return { items: page.items, nextCursor: page.last && encodeCursor(sort, page.last) }
    },

    /**
     * @throws task_not_found, list_not_found, project_archived, version_mismatch, external_id_taken, managed_by_codehost,
     * description_read_only
     */
    async update(
      caller: Caller,
      { id, change, allowed }: { id: string; change: TaskChange; allowed?: AllowedVersions },
    ): Promise<WrittenTask> {
      const single = await updateSingle?.({ caller, id, change, allowed })
      if (single) return single
      return repos.within(caller).transaction(async (repos) => {
        const task = await lockedTask(repos, { id, allowed, listId: change.listId })
        const moveTo =
          change.listId === undefined ? undefined : await writableDestination(repos, change.listId)
        const now = clock.now()
        const outcome = decideChange(task, { change, moveTo, actorType: caller.type, now })
        if (!outcome) return writtenFor(caller, toTask(task))
        const changed = { ...task, ...outcome.update }
        await repos.tasks.update(id, outcome.update)
        await repos.activity.insert(
          outcome.activities.map(({ type, metadata }) =>
            activityOf(type, { task: changed, caller, now, metadata }),
          ),
        )
        return writtenFor(caller, toTask(changed))
      })
    },

    updateMany: bulkChangesOf({ repos, clock }),

    /** The tasks that a write of many returned, with all fields. */
    whole: (caller: Caller, items: WrittenItem[]): AsyncGenerator<WrittenTask> =>
      wholeTasks(repos.within(caller), items),

    /**
     * Deletes a task; it can be restored until the cleanup removes it.
     * @throws task_not_found, project_archived, version_mismatch
     */
    async delete(caller: Caller, { id, allowed }: { id: string; allowed: AllowedVersions }): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const task = await lockedTask(repos, { id, allowed })
        const now = clock.now()
        await repos.tasks.update(id, { deletedAt: now, updatedAt: now, version: task.version + 1 })
        await repos.activity.insert([activityOf('task.deleted', { task, caller, now })])
      })
    },

    /**
     * Restores a deleted task; returns one that is not deleted unchanged.
     * @throws task_not_found, project_archived, external_id_taken
     */
    async restore(caller: Caller, id: string): Promise<WrittenTask> {
      return repos.within(caller).transaction(async (repos) => {
        const task = writableTask(await lockTasks(repos, { ids: [id], hidden: true }), id)
        const now = clock.now()
        if (task.deletedAt && isPastRetention(task.deletedAt, now)) throw taskNotFound(id)
        if (!task.deletedAt) return writtenFor(caller, toTask(task))
        const update = { deletedAt: null, updatedAt: now, version: task.version + 1 }
        await repos.tasks.update(id, update)
        await repos.activity.insert([activityOf('task.restored', { task, caller, now })])
        return writtenFor(caller, toTask({ ...task, ...update }))
      })
    },

    /**
     * Indexes some of the changed texts for search; returns whether there are more. Called by the worker in small batches:
     * indexing costs as much as the writes did.
     */
    async indexTexts(): Promise<boolean> {
      return repos.transaction(
        async ({ taskTexts }) =>
          (await taskTexts.claimIndexing()) && (await taskTexts.index(INDEX_BATCH)) === INDEX_BATCH,
      )
    },
  }

  /** @throws project_not_found, list_not_found */
  async function reachedPlace(caller: Caller, { projectId, listId }: TaskQuery): Promise<BoundRepositories> {
    const bound = repos.within(caller)
    if (projectId && !(await bound.projects.find(projectId))) throw projectNotFound(projectId)
    if (listId && !(await bound.lists.find(listId))) throw listNotFound(listId)
    return bound
  }

  async function readRows(bound: BoundRepositories, query: TaskQuery): Promise<Page<TaskListItem>> {
    const order = taskOrderOf(query)
    const { data, nextCursor } = await readPage({
      order,
      request: query,
      read: (after, limit) => bound.tasks.list(...pageOf(query, { order, after, limit })),
    })
    const ids = data.filter(({ isLeftOut }) => isLeftOut).map(({ id }) => id)
    return {
      data: data.filter(({ isLeftOut }) => !isLeftOut).map(toTaskListItem),
      nextCursor,
      ...(ids.length > 0 && { rest: rest(bound, { ids, query, nextCursor }) }),
    }
  }

  /** What the repository is asked for. */
  function pageOf(
    query: TaskQuery,
    {
      order: { sortBy, direction },
      ...position
    }: Pick<TaskPageRequest, 'after' | 'limit'> & { order: TaskOrder },
  ): [TaskFilter, TaskPageRequest] {
    return [
      filterOf(query, clock.now()),
      { sortBy, direction, ...position, isSummary: query.fields === 'summary' },
    ]
  }

  /** Reads the tasks that were left out of the first part of a page, as they are now; without tasks deleted since. */
  async function* rest(
    { tasks }: BoundRepositories,
    { ids, query: { deleted }, nextCursor }: { ids: string[]; query: TaskQuery; nextCursor: string | null },
  ): AsyncGenerator<TaskListItem[], string | null> {
    for (let left = ids; left.length > 0; ) {
      const some = left.slice(0, READ_BATCH)
      const rows = await tasks.listByIds(some, { deleted: deleted ? 'only' : 'excluded' })
      yield rows.filter(({ isLeftOut }) => !isLeftOut).map(toTaskListItem)
      const next = rows.find(({ isLeftOut }) => isLeftOut)
      left = left.slice(next ? left.indexOf(next.id) : some.length)
    }
    return nextCursor
  }

  function activityOf(
    type: string,
    {
      task,
      caller,
      now,
      metadata,
    }: { task: TaskRow; caller: Caller; now: Date; metadata?: Record<string, unknown> | undefined },
  ) {
    const about = { taskId: task.id, projectId: task.projectId, ...(metadata && { metadata }) }
    return activityRow(clock, { now, type, actor: actorOf(caller), ...about })
  }
}

interface TasksDeps {
  repos: Repositories
  clock: Clock
  /** Creates a task together with others; absent inside a transaction. */
  createSingle?: ReturnType<typeof singleCreationOf> | undefined
  /** Changes a task together with others; absent inside a transaction. */
  updateSingle?: ReturnType<typeof singleUpdateOf> | undefined
}

async function lockedTask(
  repos: BoundRepositories,
  { id, allowed, listId }: { id: string; allowed: AllowedVersions; listId?: string | undefined },
): Promise<TaskRow> {
  const locked = await lockTasks(repos, { ids: [id], listId })
  const task = writableTask(locked, id)
  refuseStale(allowed, task.version)
  return task
}

function filterOf(query: TaskQuery, now: Date) {
  return {
    projectId: query.projectId,
    listId: query.listId,
    statuses: query.status,
    sources: query.source,
    priorities: query.priority?.map(rankOf),
    labels: query.label,
    text: query.q,
    updatedSince: query.updatedSince === undefined ? undefined : new Date(query.updatedSince),
    codehostPrNumber: query.codehostPrNumber,
    skipsArchived: !query.includeArchived,
    deletedSince: query.deleted ? new Date(now.getTime() - TRASH_RETENTION_MS) : undefined,
  }
}
