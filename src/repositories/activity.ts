import {
  type AnyColumn,
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  lt,
  notInArray,
  or,
  type SQL,
  sql,
  unionAll,
} from '../db/drizzle.ts'
import { activity } from '../db/tables/activity.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor, Reach } from './index.ts'
import { isWithin } from './ordered-by-index.ts'

/** A row as the stream reads it: with the transaction that wrote it. */
export type ActivityLogRow = typeof activity.$inferSelect
/** Without the transaction, which the database sets. */
export type ActivityRow = Omit<ActivityLogRow, 'transaction'>

export interface ActivityFilter {
  taskId?: string | undefined
  projectId?: string | undefined
  types?: string[] | undefined
  actorId?: string | undefined
  /** The lowest id, inclusive. */
  from?: string | undefined
}

/** A page, newest first: `before` is the id at the end of the previous one. */
interface NewestFirst {
  before: string | undefined
  limit: number
}

/** Transactions that became visible: single ones, and a range without the excluded ones. */
export interface TransactionSpan {
  finished: string[]
  from: string
  to: string
  without: string[]
}

const { transaction, ...columns } = getTableColumns(activity)

/** The activity log, within a reach. */
export function activityRepository(db: Executor, reach: Reach) {
  const inReach = reach.projectId === null ? undefined : eq(activity.projectId, reach.projectId)

  return {
    async insert(rows: ActivityRow[]): Promise<void> {
      if (rows.length > 0) await db.insert(activity).values(rows)
    },

    async find(id: string): Promise<ActivityRow | undefined> {
      const [row] = await db
        .select(columns)
        .from(activity)
        .where(and(eq(activity.id, id), inReach))
      return row
    },

    /** Newest first. */
    async list(filter: ActivityFilter, { before, limit }: NewestFirst): Promise<ActivityRow[]> {
      return db
        .select(columns)
        .from(activity)
        .where(and(...conditionsInOrder({ filter, reach, before })))
        .orderBy(...newestFirst(filter, reach))
        .limit(limit)
    },

    /** Whether the task exists or existed: includes deleted tasks, and purged ones that the log mentions. */
    async knowsTask(taskId: string): Promise<boolean> {
      const taskInReach = reach.projectId === null ? undefined : eq(tasks.projectId, reach.projectId)
      const [task] = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(eq(tasks.id, taskId), taskInReach))
      if (task) return true
      const rows = await db
        .select({ id: activity.id })
        .from(activity)
        .where(and(eq(activity.taskId, taskId), inReach))
        .limit(1)
      return rows.length > 0
    },

    /** The rows that are visible in a snapshot, oldest first. */
    async listVisible(
      snapshot: string,
      { filter, after, limit }: { filter: ActivityFilter; after: string | undefined; limit: number },
    ): Promise<ActivityRow[]> {
      const isVisible = or(
        sql`pg_visible_in_snapshot(${transaction}, ${snapshot}::pg_snapshot)`,
        // Rows restored into a new cluster are visible, but their transaction ids are in its future.
        sql`${transaction} >= pg_snapshot_xmax(pg_current_snapshot())`,
      )
      return db
        .select(columns)
        .from(activity)
        .where(and(inReach, ...conditions(filter), isVisible, after ? gt(activity.id, after) : undefined))
        .orderBy(asc(activity.id))
        .limit(limit)
    },
  }
}

/** Reads new rows of the activity log: outside any reach, for all streams of a process. */
export function activityLogReader(db: Executor) {
  return {
    /**
     * The committed transactions in PostgreSQL's text format, and the start of the server's statistics: after a crash,
     * transaction ids may be reused and the statistics start again.
     */
    async snapshot(): Promise<{ text: string; life: string }> {
      const { rows } = await db.execute<{ text: string; life: string }>(sql`
        select pg_current_snapshot()::text as text,
          coalesce(extract(epoch from pg_stat_get_bgwriter_stat_reset_time())::text, '') as life`)
      return rows[0] ?? { text: '', life: '' }
    },

    /**
     * The rows written by these transactions. `notBefore` excludes rows restored from another cluster, whose transaction
     * ids are unrelated; it is not an index condition, or the planner might scan the whole hour.
     */
    async listWritten(
      { finished, from, to, without }: TransactionSpan,
      {
        notBefore,
        after,
        limit,
      }: { notBefore: Date; after: Pick<ActivityLogRow, 'transaction' | 'id'> | undefined; limit: number },
    ): Promise<ActivityLogRow[]> {
      const part = (which: SQL | undefined) =>
        db
          .select()
          .from(activity)
          .where(
            and(
              which,
              gte(activity.createdAt, notBefore),
              after &&
                sql`(${transaction}, ${activity.id}) > (${after.transaction}::xid8, ${after.id}::uuid)`,
            ),
          )
          .orderBy(asc(transaction), asc(activity.id))
          .limit(limit)
      // Two index scans; a single condition with `or` scans the whole index.
      return unionAll(
        part(inArray(transaction, finished)),
        part(and(gte(transaction, from), lt(transaction, to), notInArray(transaction, without))),
      )
        .orderBy(asc(transaction), asc(activity.id))
        .limit(limit)
    },
  }
}

function conditions(filter: ActivityFilter): (SQL | undefined)[] {
  return [
    filter.taskId && eq(activity.taskId, filter.taskId),
    filter.projectId && eq(activity.projectId, filter.projectId),
    filter.actorId && eq(activity.actorId, filter.actorId),
    filter.types && inArray(activity.type, filter.types),
    filter.from && gte(activity.id, filter.from),
  ].filter((condition) => typeof condition === 'object')
}

interface InOrder {
  filter: ActivityFilter
  reach: Reach
  before: string | undefined
}

/** The same, for rows in the order of `newestFirst`: the first condition selects the index. */
function conditionsInOrder({ filter, reach, before }: InOrder): (SQL | undefined)[] {
  const { types = [], from } = filter
  const all = equalities(filter, reach)
  const [prefix] = all
  const isPast = (than: SQL, id: string) =>
    prefix
      ? sql`(${prefix[0]}, ${activity.id}) ${than} (${prefix[1]}, ${id}::uuid)`
      : sql`${activity.id} ${than} ${id}::uuid`
  return [
    ...all.map(([column, value]) => (column === prefix?.[0] ? isWithin : eq)(column, value)),
    types.length > 1 ? inArray(activity.type, types) : undefined,
    from === undefined ? undefined : isPast(sql`>=`, from),
    before === undefined ? undefined : isPast(sql`<`, before),
  ]
}

function newestFirst(filter: ActivityFilter, reach: Reach): SQL[] {
  const [prefix] = equalities(filter, reach)
  return [...(prefix ? [desc(prefix[0])] : []), desc(activity.id)]
}

/** Columns that must have one value, those of the fewest rows first. */
function equalities(
  { taskId, actorId, projectId, types }: ActivityFilter,
  reach: Reach,
): [AnyColumn, string][] {
  const type = types?.length === 1 ? types[0] : undefined
  const all: [AnyColumn, string | null | undefined][] = [
    [activity.taskId, taskId],
    [activity.actorId, actorId],
    [activity.projectId, projectId],
    [activity.projectId, reach.projectId],
    [activity.type, type],
  ]
  return all.filter((each): each is [AnyColumn, string] => typeof each[1] === 'string')
}
