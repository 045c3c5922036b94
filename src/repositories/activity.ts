import { type AnyColumn, and, desc, eq, getTableColumns, inArray, type SQL, sql } from '../db/drizzle.ts'
import { activity } from '../db/tables/activity.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'
import { isWithin } from './ordered-by-index.ts'
import { isReached, type Reach } from './reach.ts'
import { opaque } from './task-page-conditions.ts'

/** Without what the database sets: when the row became visible. */
export type ActivityRow = Omit<typeof activity.$inferSelect, 'transaction' | 'sequence'>

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

const { transaction, sequence, ...columns } = getTableColumns(activity)

/** The activity log, within a reach. */
export function activityRepository(db: Executor, reach: Reach) {
  const inReach = isReached(activity.projectId, reach)

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
      const found = await findFew(db, { filter, reach })
      return db
        .select(columns)
        .from(activity)
        .where(and(found, ...conditionsInOrder({ filter, reach, before })))
        .orderBy(...newestFirst(filter, reach))
        .limit(limit)
    },

    /** Whether the task exists or existed: includes deleted tasks, and purged ones that the log mentions. */
    async knowsTask(taskId: string): Promise<boolean> {
      const taskInReach = isReached(tasks.projectId, reach)
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
  }
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
    ...all.map(([column, value]) =>
      column === prefix?.[0] ? isWithin(column, value) : opaque(eq(column, value)),
    ),
    types.length > 1 ? opaque(inArray(activity.type, types)) : undefined,
    from === undefined ? undefined : isPast(sql`>=`, from),
    before === undefined ? undefined : isPast(sql`<`, before),
  ]
}

/**
 * The activity of rare types: a place may have little or none of it, and its own would be read to the end. Undefined where
 * there is more, or where the index of types is read anyway.
 */
async function findFew(db: Executor, { filter, reach }: Omit<InOrder, 'before'>): Promise<SQL | undefined> {
  const { types = [] } = filter
  if (types.length === 0 || equalities(filter, reach)[0]?.[0] === activity.type) return undefined
  const rows = sql`
    select few.id from unnest(${sql.param(types)}::text[]) as wanted (type) cross join lateral (
      select id from ${activity} where type >= wanted.type and type <= wanted.type
      order by type desc, id desc limit ${sql.raw(String(MAX_FEW + 1))}
    ) as few`
  const beyond = await db.execute(sql`${rows} offset ${sql.raw(String(MAX_FEW))}`)
  return beyond.rowCount === 0 ? sql`${activity.id} = any(array(${rows}))` : undefined
}

const MAX_FEW = 500

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
