import { and, asc, eq, inArray, isNotNull, isNull, lte, type SQL, sql } from '../db/drizzle.ts'
import { recordset } from '../db/recordset.ts'
import { activity } from '../db/tables/activity.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { TaskUpdate } from '../domain/task.ts'
import type { ActivityRow } from './activity.ts'
import type { Executor } from './index.ts'
import { isWithin } from './ordered-by-index.ts'
import { isReached, type Reach } from './reach.ts'
import { countReported } from './reported-counts.ts'
import type { TaskCache } from './task-cache.ts'
import { comparedColumns, taskColumns } from './task-columns.ts'
import { opaque } from './task-page-conditions.ts'
import { type SearchOptions, taskPages } from './task-pages.ts'
import { namingViolations } from './task-violations.ts'

type SelectedTask = typeof tasks.$inferSelect
/** An interface, so that type errors name it instead of listing its members. */
export interface TaskRow extends SelectedTask {}

export const taskSet = recordset(tasks)
export const activitySet = recordset(activity, { leaveToDatabase: ['transaction', 'sequence'] })

/**
 * Inserts tasks with any activity, as two parts of a `with`, for the feedback receiver. `made` has the inserted ids;
 * the other tasks exist already, by external id or code-host number, or do not meet the condition.
 */
export const insertingTasks = (condition?: SQL) => sql`
  made as (
    insert into ${tasks} (${taskSet.names}) ${taskSet.select('tasks', condition)}
    on conflict do nothing returning id
  ), logged as (
    insert into ${activity} (${activitySet.names})
    ${activitySet.select('activities', sql`"taskId" in (select id from made)`)}
  )`

/** The values of the placeholders `tasks`, `activities` and `projectIds`. */
export const tasksAndActivity = (rows: TaskRow[], activities: ActivityRow[]) => ({
  projectIds: [...new Set(rows.map(({ projectId }) => projectId))],
  // As bytes: PostgreSQL reads JSON from either, and bytes are freed with the statement.
  tasks: Buffer.from(JSON.stringify(rows)),
  activities: JSON.stringify(activities),
})

interface LockOptions {
  /** Includes deleted tasks. */
  hidden?: boolean
  texts?: string[] | undefined
}

interface NamedTasks {
  sourceId?: string | null
  ids: string[]
  isLocked?: boolean
  texts?: string[] | undefined
}

/** As a subquery: an index can be compared with its value, but not with a function that changes within the statement. */
const DATABASE_NOW = sql`(select clock_timestamp())`

/** A task whose snooze is over. */
export type TaskToWake = Pick<
  TaskRow,
  'id' | 'projectId' | 'status' | 'triaged' | 'snoozedUntil' | 'deletedAt'
>

interface MovedTasks {
  fromListId: string
  toListId: string
  now: Date
  limit: number
}

/** How tasks are searched and read. */
export interface Reading {
  search?: SearchOptions | undefined
  /** Not in a transaction: what it has written may be rolled back. */
  cache?: TaskCache | undefined
}

export function tasksRepository(db: Executor, { reach, search, cache }: Reading & { reach: Reach }) {
  const inReach = isReached(tasks.projectId, reach)
  const isShown = isNull(tasks.deletedAt)

  return {
    ...taskPages({ db, reach, cache }, search ?? {}),

    async find(id: string): Promise<TaskRow | undefined> {
      const [row] = await db
        .select(taskColumns)
        .from(tasks)
        .where(and(eq(tasks.id, id), inReach, isShown))
      return row
    },

    /** Locks the task until the transaction ends. */
    async findForUpdate(id: string): Promise<TaskRow | undefined> {
      const [row] = await db
        .select(taskColumns)
        .from(tasks)
        .where(and(eq(tasks.id, id), inReach, isShown))
        .for('update')
      return row
    },

    /**
     * Locks the tasks until the transaction ends, in the same order everywhere. `texts` are those that the caller compares
     * theirs with: see `comparedColumns`.
     */
    async listForUpdate(ids: string[], { hidden = false, texts = [] }: LockOptions = {}): Promise<TaskRow[]> {
      return db
        .select(comparedColumns(texts))
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${sql.param(ids)}::uuid[])`, inReach, hidden ? undefined : isShown))
        .orderBy(asc(tasks.id))
        .for('update')
    },

    /**
     * In a project, or if it is null, in all within reach. With `isLocked`, locks the tasks until the transaction ends,
     * in the same order everywhere. With `texts`, those that the caller compares theirs with: see `comparedColumns`.
     */
    async listByExternalIds(
      projectId: string | null,
      { source, sourceId = null, ids, isLocked, texts }: Pick<TaskRow, 'source'> & NamedTasks,
    ): Promise<TaskRow[]> {
      const existing = db
        .select(texts ? comparedColumns(texts) : taskColumns)
        .from(tasks)
        .where(
          and(
            projectId === null ? inReach : eq(tasks.projectId, projectId),
            eq(tasks.source, source),
            sourceId === null ? isNull(tasks.sourceId) : eq(tasks.sourceId, sourceId),
            inArray(tasks.externalId, ids),
            isNotNull(tasks.externalId),
            isShown,
          ),
        )
        .orderBy(asc(tasks.id))
      return isLocked ? existing.for('update') : existing
    },

    async update(id: string, change: TaskUpdate): Promise<void> {
      await db
        .update(tasks)
        .set(change)
        .where(and(eq(tasks.id, id), inReach))
        .catch(namingViolations(change.listId))
    },

    /** The tasks that some of these are merged into. */
    async listTargets(ids: string[]): Promise<string[]> {
      const rows = await db
        .select({ id: tasks.mergedInto })
        .from(tasks)
        .where(and(inArray(tasks.id, ids), isNotNull(tasks.mergedInto), inReach))
      return rows.flatMap(({ id }) => id ?? [])
    },

    /** The task that this one is merged into, or null; undefined if there is no such task, deleted or not. */
    async findTarget(id: string): Promise<string | null | undefined> {
      const [row] = await db
        .select({ mergedInto: tasks.mergedInto })
        .from(tasks)
        .where(and(eq(tasks.id, id), inReach))
      return row?.mergedInto
    },

    /** How often feedback in tasks and their reports has each sentiment and version. */
    countReported: (ids: string[]) => countReported(db, { ids, inReach }),

    /** Counts reports of a task, which changes no version of it; returns how many it has now. */
    async addReports(id: string, count: number): Promise<number> {
      const [row] = await db
        .update(tasks)
        .set({ reportCount: sql`${tasks.reportCount} + ${count}` })
        .where(and(eq(tasks.id, id), inReach))
        .returning({ reportCount: tasks.reportCount })
      return row?.reportCount ?? 0
    },

    /** Applies the same change to many tasks; each gets its next version. */
    async updateMany(ids: string[], change: Omit<TaskUpdate, 'version'>): Promise<void> {
      await db
        .update(tasks)
        .set({ ...change, version: sql`${tasks.version} + 1` })
        .where(and(sql`${tasks.id} = any(${sql.param(ids)}::uuid[])`, inReach))
        .catch(namingViolations(change.listId))
    },

    /**
     * Locks at most so many tasks whose snooze is over by the clock of the database, deleted ones included. Never waits:
     * skips locked tasks.
     */
    async listToWake(limit: number): Promise<TaskToWake[]> {
      const { id, projectId, status, triaged, snoozedUntil, deletedAt } = tasks
      return db
        .select({ id, projectId, status, triaged, snoozedUntil, deletedAt })
        .from(tasks)
        .where(and(isNotNull(tasks.snoozedUntil), lte(tasks.snoozedUntil, DATABASE_NOW), inReach))
        .orderBy(asc(tasks.snoozedUntil))
        .limit(limit)
        .for('update', { skipLocked: true })
    },

    /**
     * Moves at most `limit` of a list's tasks to another list of its project; returns their ids. Never waits: skips locked
     * tasks.
     */
    async moveSome({ fromListId, toListId, now, limit }: MovedTasks): Promise<string[]> {
      const batch = db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(isWithin(tasks.listId, fromListId), inReach, opaque(isShown)))
        .orderBy(asc(tasks.listId), asc(tasks.id))
        .limit(limit)
        .for('update', { skipLocked: true })
      const moved = await db
        .update(tasks)
        .set({ listId: toListId, updatedAt: now, version: sql`${tasks.version} + 1` })
        .where(inArray(tasks.id, batch))
        .returning({ id: tasks.id })
      return moved.map(({ id }) => id)
    },

    /** The same for deleted tasks, without a new version, because they cannot be read. Returns how many it moved. */
    async moveDeleted({
      fromListId,
      toListId,
      limit,
    }: {
      fromListId: string
      toListId: string
      limit: number
    }): Promise<number> {
      const batch = db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(isWithin(tasks.listId, fromListId), inReach, opaque(isNotNull(tasks.deletedAt))))
        .orderBy(asc(tasks.listId), asc(tasks.id))
        .limit(limit)
        .for('update', { skipLocked: true })
      const { rowCount } = await db.update(tasks).set({ listId: toListId }).where(inArray(tasks.id, batch))
      return rowCount ?? 0
    },

    /** Whether the list has more than `count` tasks, including deleted ones. */
    async hasMoreIn(listId: string, count: number): Promise<boolean> {
      const rows = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(isWithin(tasks.listId, listId), inReach))
        .orderBy(asc(tasks.listId), asc(tasks.id))
        .offset(count)
        .limit(1)
      return rows.length > 0
    },

    async hasAnyIn(listId: string): Promise<boolean> {
      const rows = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(isWithin(tasks.listId, listId), inReach, opaque(isShown)))
        .orderBy(asc(tasks.listId), asc(tasks.id))
        .limit(1)
      return rows.length > 0
    },
  }
}
