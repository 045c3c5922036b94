import { violates } from '../db/database-error.ts'
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  type PgTable,
  type SQL,
  type Subquery,
  sql,
} from '../db/drizzle.ts'
import { named } from '../db/named.ts'
import { recordset } from '../db/recordset.ts'
import { activity, projects, tasks } from '../db/tables.ts'
import { externalIdTaken, listNotFound } from '../errors/index.ts'
import type { ActivityRow } from './activity.ts'
import type { Executor, Reach } from './index.ts'
import { contains, isFoundByText } from './task-texts.ts'

export type TaskRow = typeof tasks.$inferSelect
type Long = 'description' | 'notes' | 'metadata'
/** As lists read it: with `summary`, the long columns are not fetched. */
export type TaskListRow = Omit<TaskRow, Long> &
  Partial<Pick<TaskRow, Long>> & {
    /** Its long columns are not fetched, because those before it are long enough: ask for it by its id. */
    isLeftOut?: boolean
  }

export interface TaskFilter {
  projectId?: string | undefined
  listId?: string | undefined
  statuses?: TaskRow['status'][] | undefined
  sources?: TaskRow['source'][] | undefined
  priorities?: number[] | undefined
  labels?: string[] | undefined
  text?: string | undefined
  updatedSince?: Date | undefined
  codehostPrNumber?: number | undefined
  /** Leaves out tasks of archived projects, unless the project or the list is named. */
  skipsArchived?: boolean | undefined
  /** Only tasks that were deleted after this time; left out: only those that were not deleted. */
  deletedSince?: Date | undefined
}

/** Where a page ended: the sort's own value there (none where ids alone are the order) and the id. */
export interface PageCursor {
  key: string | number | null
  id: string
}

export interface TaskPageRequest {
  by: 'created' | 'updated' | 'deleted' | 'priority'
  direction: 'ascending' | 'descending'
  after?: PageCursor | undefined
  limit: number
  isSummary: boolean
}

export interface SearchOptions {
  /** So many tasks are looked through for text before the index on all texts is asked. */
  walk?: number | undefined
}

export type TaskUpdate = Partial<TaskRow> & Pick<TaskRow, 'updatedAt' | 'version'>

export const taskSet = recordset(tasks)
export const activitySet = recordset(activity, { leaveToDatabase: ['transaction'] })

/**
 * The one insert all new tasks come in by, as two parts of a `with`: many at once, each with its activity entries.
 * `made` has the ids that were made; the others were here already, by external id or code-host number, or not wanted.
 */
export const makingTasks = (isWanted?: SQL) => sql`
  made as (
    insert into ${tasks} (${taskSet.names}) ${taskSet.select('tasks', isWanted)}
    on conflict do nothing returning id
  ), logged as (
    insert into ${activity} (${activitySet.names})
    ${activitySet.select('entries', sql`"taskId" in (select id from made)`)}
  )`

/**
 * Two parts of a `with` that come before it: they hold the projects the tasks go to as they are, in one order everywhere.
 * `place` says whether all of them are there and not archived; none is archived or deleted while the statement is at work.
 */
export const holdingProjects = sql`
  open as (
    select id from ${projects} where id = any(${sql.placeholder('projectIds')}::uuid[]) and archived_at is null
    order by id for key share
  ), place as (
    select count(*) = cardinality(${sql.placeholder('projectIds')}::uuid[]) as is_open from open
  )`

/** What the placeholders `tasks`, `entries` and `projectIds` stand for. */
export const tasksAndActivity = (rows: TaskRow[], entries: ActivityRow[]) => ({
  projectIds: [...new Set(rows.map(({ projectId }) => projectId))],
  tasks: JSON.stringify(rows),
  entries: JSON.stringify(entries),
})

const insertTasks = named<{ isOpen: boolean; made: string[] }>(
  'insert tasks',
  sql`
    with ${holdingProjects}, ${makingTasks(sql`(select is_open from place)`)}
    select is_open as "isOpen", array(select id from made) as made from place`,
)
const { description, notes, metadata, ...briefColumns } = getTableColumns(tasks)

export function tasksRepository(db: Executor, reach: Reach, { walk = WALK }: SearchOptions = {}) {
  const inReach = reach.projectId === null ? undefined : eq(tasks.projectId, reach.projectId)
  const isShown = isNull(tasks.deletedAt)

  return {
    /**
     * Returns the ids that were made; the others were here already, by external id or code-host number. Undefined, and
     * nothing is made, where their project was archived or deleted meanwhile: the lock is part of the statement, which
     * spares a round trip and a transaction.
     */
    async insert(rows: TaskRow[], entries: ActivityRow[]): Promise<Set<string> | undefined> {
      const answers = await insertTasks(db, tasksAndActivity(rows, entries)).catch(
        namingViolations(rows[0]?.listId),
      )
      const [answer] = answers.rows
      return answer?.isOpen ? new Set(answer.made) : undefined
    },

    async find(id: string): Promise<TaskRow | undefined> {
      const [row] = await db
        .select()
        .from(tasks)
        .where(and(eq(tasks.id, id), inReach, isShown))
      return row
    },

    /** Locks the task until the transaction ends. */
    async findForUpdate(id: string): Promise<TaskRow | undefined> {
      const [row] = await db
        .select()
        .from(tasks)
        .where(and(eq(tasks.id, id), inReach, isShown))
        .for('update')
      return row
    },

    /** Locks the tasks until the transaction ends, in one order everywhere. Hidden ones only when asked for. */
    async listForUpdate(ids: string[], { hidden = false } = {}): Promise<TaskRow[]> {
      return db
        .select()
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${sql.param(ids)}::uuid[])`, inReach, hidden ? undefined : isShown))
        .orderBy(asc(tasks.id))
        .for('update')
    },

    async listByExternalIds(projectId: string, source: TaskRow['source'], ids: string[]): Promise<TaskRow[]> {
      return db
        .select()
        .from(tasks)
        .where(
          and(
            eq(tasks.projectId, projectId),
            eq(tasks.source, source),
            inArray(tasks.externalId, ids),
            isNotNull(tasks.externalId),
            isShown,
          ),
        )
    },

    /**
     * A page of tasks. Text that many tasks hold is found among the next ones in order, and so is all that a small place
     * holds; what else is not found there is rare, and asked of the index on all texts. At a million tasks each is slow
     * where the other is fast.
     */
    async list({ text, ...filter }: TaskFilter, page: TaskPageRequest): Promise<TaskListRow[]> {
      const order = orderOf(page)
      const read = (rows: SomeTasks) =>
        page.isSummary
          ? db
              .select(briefColumns)
              .from(rows)
              .orderBy(...order)
          : readBounded(rows, order)
      const { limit } = page
      const inPlace = and(inReach, ...placeConditions(filter), archived(filter), after(page))
      const others = and(...conditions(filter))
      if (!text) {
        return read(
          db
            .select()
            .from(tasks)
            .where(and(inPlace, others))
            .orderBy(...order)
            .limit(limit)
            .as('tasks'),
        )
      }
      const next = db
        .select()
        .from(tasks)
        .where(inPlace)
        .orderBy(...order)
        .limit(walk)
        .as('tasks')
      const near = await read(
        db
          .select(getTableColumns(tasks))
          .from(next)
          .where(and(others, contains(text)))
          .orderBy(...order)
          .limit(limit)
          .as('tasks'),
      )
      if (near.length === limit) return near
      const beyond = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(inPlace)
        .orderBy(...order)
        .offset(walk)
        .limit(1)
      if (beyond.length === 0) return near
      return read(
        db
          .select()
          .from(tasks)
          .where(and(inPlace, others, isFoundByText(text)))
          .orderBy(...order)
          .limit(limit)
          .as('tasks'),
      )
    },

    /** These tasks in the order of the ids, as `list` reads them. */
    async listByIds(ids: string[], { hidden = false } = {}): Promise<TaskListRow[]> {
      const asked = sql`${sql.param(ids)}::uuid[]`
      const isHere = hidden ? isNotNull(tasks.deletedAt) : isShown
      const rows = db
        .select()
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${asked})`, inReach, isHere))
        .as('tasks')
      return readBounded(rows, [sql`array_position(${asked}, ${tasks.id})`])
    },

    async update(id: string, change: TaskUpdate): Promise<void> {
      await db
        .update(tasks)
        .set(change)
        .where(and(eq(tasks.id, id), inReach))
        .catch(namingViolations(change.listId))
    },

    /** The same change of many tasks; each gets its next version. */
    async updateMany(ids: string[], change: Omit<TaskUpdate, 'version'>): Promise<void> {
      await db
        .update(tasks)
        .set({ ...change, version: sql`${tasks.version} + 1` })
        .where(and(sql`${tasks.id} = any(${sql.param(ids)}::uuid[])`, inReach))
        .catch(namingViolations(change.listId))
    },

    /**
     * Moves so many of a list's tasks to another list of its project; returns their ids. Waits for nobody: those that are
     * locked are passed over.
     */
    async moveSome(fromListId: string, toListId: string, at: Date, most: number): Promise<string[]> {
      const batch = db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(eq(tasks.listId, fromListId), inReach, isShown))
        .orderBy(asc(tasks.id))
        .limit(most)
        .for('update', { skipLocked: true })
      const moved = await db
        .update(tasks)
        .set({ listId: toListId, updatedAt: at, version: sql`${tasks.version} + 1` })
        .where(inArray(tasks.id, batch))
        .returning({ id: tasks.id })
      return moved.map(({ id }) => id)
    },

    /** The same for hidden tasks, without a new version: nobody can have read one. Returns how many it moved. */
    async moveDeleted(fromListId: string, toListId: string, limit: number): Promise<number> {
      const batch = db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(eq(tasks.listId, fromListId), inReach, isNotNull(tasks.deletedAt)))
        .orderBy(asc(tasks.id))
        .limit(limit)
        .for('update', { skipLocked: true })
      const { rowCount } = await db.update(tasks).set({ listId: toListId }).where(inArray(tasks.id, batch))
      return rowCount ?? 0
    },

    /** Whether more than so many are in the list, hidden ones included. */
    async hasMoreIn(listId: string, count: number): Promise<boolean> {
      const rows = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(eq(tasks.listId, listId), inReach))
        .offset(count)
        .limit(1)
      return rows.length > 0
    },

    async hasAnyIn(listId: string): Promise<boolean> {
      const rows = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(eq(tasks.listId, listId), inReach, isShown))
        .limit(1)
      return rows.length > 0
    },
  }

  /** In this order, with the long columns until they make up `MAX_LONG_BYTES`; the first task always has them. */
  function readBounded(rows: SomeTasks, order: SQL[]): Promise<TaskListRow[]> {
    const before = sql`sum(${LONG_BYTES}) over (order by ${sql.join(order, sql`, `)} rows between unbounded preceding and 1 preceding)`
    const fits = sql`coalesce(${before}, 0) < ${sql.raw(String(MAX_LONG_BYTES))}`
    return db
      .select({
        ...briefColumns,
        description: sql<string | null>`case when ${fits} then ${tasks.description} end`,
        notes: sql<string | null>`case when ${fits} then ${tasks.notes} end`,
        metadata: sql<unknown>`case when ${fits} then ${tasks.metadata} end`,
        isLeftOut: sql<boolean>`not (${fits})`,
      })
      .from(rows)
      .orderBy(...order)
  }

  /** As an array, which is made once: the walk of an index goes on, and leaves these out. */
  function archived({ skipsArchived, projectId, listId }: TaskFilter): SQL | undefined {
    const isNamed = projectId !== undefined || listId !== undefined || reach.projectId !== null
    if (!skipsArchived || isNamed) return undefined
    return sql`${tasks.projectId} <> all(array(select id from projects where archived_at is not null))`
  }
}

/** Tasks that were chosen, under the name of their table. */
type SomeTasks = PgTable | Subquery<'tasks'>

/** Names what only the database can see, because it happened between a look and the write. */
export function namingViolations(listId = '') {
  return (error: unknown): never => {
    if (violates(error, 'tasks_list_in_project')) throw listNotFound(listId)
    if (violates(error, 'tasks_external')) throw externalIdTaken()
    throw error
  }
}

/**
 * What one reader of a page makes us hold, give or take one task.
 * Summing it up costs the database 0.10 ms on 0.18 for 50 tasks of 540 characters, and 0.45 on 0.69 for 200.
 */
const MAX_LONG_BYTES = 256 * 1024
const LONG_BYTES = sql`coalesce(octet_length(${tasks.description}), 0) + coalesce(octet_length(${tasks.notes}), 0) + octet_length(${tasks.metadata}::text)`

/** 85 ms at 14 µs each, with 540 characters. */
const WALK = 6_000

/** What the index that a page is read by holds. */
function placeConditions({ deletedSince, ...filter }: TaskFilter): (SQL | undefined)[] {
  return [
    deletedSince ? gt(tasks.deletedAt, deletedSince) : isNull(tasks.deletedAt),
    filter.projectId === undefined ? undefined : eq(tasks.projectId, filter.projectId),
    filter.listId === undefined ? undefined : eq(tasks.listId, filter.listId),
  ]
}

function conditions(filter: Omit<TaskFilter, 'text'>): (SQL | undefined)[] {
  return [
    filter.statuses && inArray(tasks.status, filter.statuses),
    filter.sources && inArray(tasks.source, filter.sources),
    filter.priorities && inArray(tasks.priority, filter.priorities),
    filter.labels && hasLabel(filter.labels),
    filter.updatedSince && gte(tasks.updatedAt, filter.updatedSince),
    filter.codehostPrNumber &&
      and(eq(tasks.codehostKind, 'pull_request'), eq(tasks.codehostNumber, filter.codehostPrNumber)),
  ].filter((condition) => typeof condition === 'object')
}

function orderOf({ by, direction }: TaskPageRequest): SQL[] {
  const order = direction === 'ascending' ? asc : desc
  const key = SORT_KEYS[by]
  return [...(key ? [order(key)] : []), order(tasks.id)]
}

/** Any of these, in any case: as the index on labels has them. */
const hasLabel = (labels: string[]) =>
  sql`(${tasks.labels} <> '{}' and lower_names(${tasks.labels}) && lower_names(${sql.param(labels)}::text[]))`

const SORT_KEYS = {
  created: undefined,
  updated: tasks.updatedAt,
  deleted: tasks.deletedAt,
  priority: tasks.priority,
}

/** Row comparison, which an index on the same columns answers without reading what came before. */
function after({ by, direction, after }: TaskPageRequest): SQL | undefined {
  if (!after) return undefined
  const than = sql.raw(direction === 'ascending' ? '>' : '<')
  switch (by) {
    case 'created':
      return sql`${tasks.id} ${than} ${after.id}::uuid`
    case 'updated':
    case 'deleted':
      return sql`(${SORT_KEYS[by]}, ${tasks.id}) ${than} (${after.key}::timestamptz, ${after.id}::uuid)`
    case 'priority':
      return sql`(${tasks.priority}, ${tasks.id}) ${than} (${after.key}::smallint, ${after.id}::uuid)`
  }
}
