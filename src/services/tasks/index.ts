import { NO_CLAIM, overriddenBy, unclaimedStatus } from '../../domain/claim.ts'
import type { TaskConnection } from '../../domain/codehost/write-back.ts'
import { decodeCursor, encodeCursor } from '../../domain/cursor.ts'
import { decideUnmerge } from '../../domain/merging.ts'
import type { Operations } from '../../domain/operation.ts'
import { decideChange, longTextsOf, refuseLoneReason } from '../../domain/task-change.ts'
import { taskOrderOf } from '../../domain/task-order.ts'
import { isPastRetention } from '../../domain/trash.ts'
import { refusePastSnooze } from '../../domain/triage.ts'
import { taskNotFound, taskWithReports } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../../repositories/index.ts'
import type { TaskCount } from '../../repositories/task-pages.ts'
import type { TaskJson } from '../../repositories/task-pages-json.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { WrittenTask } from '../../schemas/task.ts'
import type { TaskQuery } from '../../schemas/task-query.ts'
import type { TaskChange } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import type { PageJson } from '../page.ts'
import { requirePlace } from '../place.ts'
import { type AllowedVersions, refuseStale } from '../versions.ts'
import { namesBlockers, requireBlockers, requireNoCycle } from './blockers.ts'
import { bulkChangesOf } from './bulk-change.ts'
import { bulkCreationOf } from './bulk-creation.ts'
import { writableDestination } from './creation.ts'
import { filterOf } from './filter.ts'
import { recordStateWrites } from './host-writes.ts'
import { lockTasks, type TaskLocks, writableTask } from './locks.ts'
import { countReport, type LockedReport, restorableTarget, withTarget } from './merged.ts'
import { questionIn } from './question.ts'
import { type NewTaskBatches, singleCreationOf } from './single-creation.ts'
import type { singleUpdateOf } from './single-update.ts'
import { writtenFor, writtenTask } from './view.ts'
import { wakeSome } from './waking.ts'

/** A larger number takes longer than a page. */
const MAX_EXACT_TOTAL = 10_000

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

interface TaskActivity {
  task: TaskRow
  caller: Caller
  now: Date
  metadata?: object | undefined
}

export function tasksService({ repos, clock, newTaskBatches, updateSingle }: TasksDeps) {
  return {
    create: singleCreationOf({ repos, clock, batches: newTaskBatches }),

    createMany: bulkCreationOf({ repos, clock }),

    /**
     * The task as JSON text, which PostgreSQL makes, and its version.
     * @throws task_not_found
     */
    async get(caller: Caller, id: string): Promise<TaskJson> {
      const task = await repos.within(caller).tasks.findJson(id)
      if (!task) throw taskNotFound(id)
      return task
    },

    /**
     * A page as JSON text, which PostgreSQL makes.
     * @throws project_not_found, list_not_found, invalid_cursor, person_required
     */
    async list(caller: Caller, query: TaskQuery): Promise<PageJson> {
      const { limit = 50, cursor } = query
      const { name: sort, isKey, sortBy, direction } = taskOrderOf(query)
      const after = cursor === undefined ? undefined : decodeCursor(cursor, { sort, isKey })
      const isSummary = query.fields === 'summary'
      const bound = repos.within(caller)
      await requirePlace(bound, query)
      const { tasks } = bound
      const filter = filterOf(query, { caller, now: clock.now() })
      const page = { sortBy, direction, after, limit: limit + 1, isSummary }
      const { items, last } = await tasks.list(filter, page)
      const more = query.count ? totalOf(await tasks.count(filter, MAX_EXACT_TOTAL + 1)) : undefined
      return { items, nextCursor: last && encodeCursor(sort, last), more }
    },

    /**
     * @throws validation_failed, task_not_found, list_not_found, project_archived, version_mismatch, external_id_taken,
     * managed_by_codehost, closed_at_codehost, description_read_only, merge_conflict, dependency_cycle,
     * claim_lost, task_claimed, comment_not_found
     */
    async update(caller: Caller, { id, change, claimNumber, allowed }: UpdateRequest): Promise<WrittenTask> {
      refuseLoneReason(change)
      refusePastSnooze(change, { now: clock.now() })
      const single = await updateSingle?.({ caller, id, change, claimNumber, allowed })
      if (single) return single
      return repos.within(caller).transaction(async (repos) => {
        const { listId } = change
        const addsBlockers = namesBlockers(change)
        const texts = longTextsOf(change)
        const { task, connection } = await lockedTask(repos, { id, allowed, listId, addsBlockers, texts })
        const moveTo = listId === undefined ? undefined : await writableDestination(repos, listId)
        const now = clock.now()
        const actor = actorOf(caller)
        const { channel } = caller
        const asked = await questionIn(repos, change)
        const requested = { change, claimNumber, moveTo, asked, actor, channel, connection, now }
        const outcome = decideChange(task, requested)
        if (!outcome) return writtenFor(caller, await writtenTask(repos, id))
        await requireBlockers(repos, { task, change, moveTo })
        await repos.tasks.update(id, outcome.update)
        await requireNoCycle(repos, { changed: [{ id: task.id, ...outcome.update }], path: '/blockedBy' })
        await recordStateWrites(repos, { clock, now, changes: [{ task, outcome }] })
        const changed = { ...task, ...outcome.update }
        await repos.activity.insert(
          outcome.activities.map(({ type, metadata }) =>
            activityOf(type, { task: changed, caller, now, metadata }),
          ),
        )
        return writtenFor(caller, await writtenTask(repos, id))
      })
    },

    updateMany: bulkChangesOf({ repos, clock }),

    /**
     * Deletes a task; it can be restored until the cleanup removes it.
     * @throws task_not_found, project_archived, version_mismatch, merge_conflict
     */
    async delete(caller: Caller, { id, allowed }: { id: string; allowed: AllowedVersions }): Promise<void> {
      const work = async (repos: BoundRepositories, { locked, target }: LockedReport) => {
        const task = writableTask(locked, id)
        refuseStale(allowed, task.version)
        if (task.reportCount > 0) throw taskWithReports(task.id)
        const now = clock.now()
        const unclaimed = task.claimedByType === null ? {} : { ...NO_CLAIM, status: unclaimedStatus(task) }
        const version = task.version + 1
        await repos.tasks.update(id, { ...unclaimed, deletedAt: now, updatedAt: now, version })
        const metadata = overriddenBy(actorOf(caller), task)
        await repos.activity.insert([activityOf('task.deleted', { task, caller, now, metadata })])
        const report = { clock, report: task, actor: actorOf(caller), now }
        if (target) await countReport(repos, { ...report, target, difference: -1 })
      }
      await withTarget(repos.within(caller), { id, work })
    },

    /**
     * Restores a deleted task; returns one that is not deleted unchanged. A report of a task that was deleted, merged or
     * moved to another project meanwhile is not merged any more.
     * @throws task_not_found, project_archived, external_id_taken
     */
    async restore(caller: Caller, id: string): Promise<WrittenTask> {
      const work = async (repos: BoundRepositories, { locked, target }: LockedReport) => {
        const task = writableTask(locked, id)
        const now = clock.now()
        if (task.deletedAt && isPastRetention(task.deletedAt, now)) throw taskNotFound(id)
        if (!task.deletedAt) return writtenFor(caller, await writtenTask(repos, task.id))
        const countedBy = restorableTarget(task, target)
        const unmerged = countedBy ? undefined : decideUnmerge(task)
        await repos.tasks.update(id, {
          ...unmerged,
          deletedAt: null,
          updatedAt: now,
          version: task.version + 1,
        })
        const about = { task, caller, now }
        const from = { from: task.mergedInto, to: unmerged?.status }
        await repos.activity.insert([
          activityOf('task.restored', about),
          ...(unmerged ? [activityOf('task.unmerged', { ...about, metadata: from })] : []),
        ])
        const report = { clock, report: task, actor: actorOf(caller), now }
        if (countedBy) await countReport(repos, { ...report, target: countedBy, difference: 1 })
        return writtenFor(caller, await writtenTask(repos, task.id))
      }
      return withTarget(repos.within(caller), { id, hidden: true, work })
    },

    /** Wakes some of the tasks whose snooze is over; returns whether there may be more. Called by the worker. */
    wake: () => repos.within(everywhere).transaction((repos) => wakeSome(repos, { clock })),

    /**
     * Indexes some of the changed texts for search; returns whether there are more. Called by the worker in small batches:
     * indexing costs as much as the writes did.
     */
    async indexTexts(): Promise<boolean> {
      if (!(await repos.taskTexts.hasChanges())) return false
      return repos.transaction(
        async ({ taskTexts }) =>
          (await taskTexts.claimIndexing()) && (await taskTexts.index(INDEX_BATCH)) === INDEX_BATCH,
      )
    },
  }

  function activityOf(type: string, { task, caller, now, metadata }: TaskActivity) {
    const about = { taskId: task.id, projectId: task.projectId, ...(metadata && { metadata }) }
    return activityRow(clock, { now, type, actor: actorOf(caller), ...about })
  }
}

const totalOf = ({ count, isExact }: TaskCount) => ({
  total: Math.min(count, MAX_EXACT_TOTAL),
  totalIsExact: isExact && count <= MAX_EXACT_TOTAL,
})

interface UpdateRequest {
  id: string
  change: TaskChange
  /** The claim under which the change is made. */
  claimNumber?: number | undefined
  allowed?: AllowedVersions
}

interface TasksDeps {
  repos: Repositories
  clock: Clock
  /** Inserts a task together with others; absent inside a transaction. */
  newTaskBatches?: NewTaskBatches | undefined
  /** Changes a task together with others; absent inside a transaction. */
  updateSingle?: ReturnType<typeof singleUpdateOf> | undefined
}

async function lockedTask(
  repos: BoundRepositories,
  { id, allowed, ...lock }: { id: string; allowed: AllowedVersions } & Omit<TaskLocks, 'ids'>,
): Promise<{ task: TaskRow; connection: TaskConnection | undefined }> {
  const locked = await lockTasks(repos, { ids: [id], ...lock })
  const task = writableTask(locked, id)
  refuseStale(allowed, task.version)
  return { task, connection: locked.connections.get(task.projectId) }
}
