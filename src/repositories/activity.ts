import { type AnyColumn, and, desc, eq, getTableColumns, inArray, type SQL, sql } from '../db/drizzle.ts'
import { activity } from '../db/tables/activity.ts'
import { projects } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'
import { isWithin } from './ordered-by-index.ts'
import { everywhere, isAmong, isReached, onlyProjectOf, type Reach } from './reach.ts'
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
      const found = (await findFew(db, { filter, reach })) ?? firstOfEach({ filter, reach, before, limit })
      return db
        .select(columns)
        .from(activity)
        .where(and(found, ...conditionsInOrder({ filter, reach, before })))
        .orderBy(...newestFirst({ filter, reach }))
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

interface ReachedFilter {
  filter: Omit<ActivityFilter, 'projectId'> & { projectId?: string | SQL | undefined }
  reach: Reach
}

interface InOrder extends ReachedFilter {
  before: string | undefined
}

/** Whether a filter leaves several projects of a reach, and no index but that of projects. */
const isOfSeveral = ({ filter: { taskId, actorId, projectId }, reach }: ReachedFilter): boolean =>
  reach.projectIds !== null &&
  [taskId, actorId, projectId, onlyProjectOf(reach) ?? undefined].every((id) => id === undefined)

/** Of several projects: as many of each as the page has, from the project's own index. */
function firstOfEach({ limit, ...request }: InOrder & { limit: number }): SQL | undefined {
  const { filter, reach, before } = request
  if (reach.projectIds === null || !isOfSeveral(request)) return undefined
  const ofOne = { filter: { ...filter, projectId: sql`reached.id` }, reach: everywhere, before }
  return sql`${activity.id} = any(array(
    select part.id from ${projects} as reached cross join lateral (
      select id from ${activity} where ${and(...conditionsInOrder(ofOne))}
      order by ${sql.join(newestFirst(ofOne), sql`, `)} limit ${sql.raw(String(limit))}
    ) as part
    where ${isAmong(sql`reached.id`, reach.projectIds)} order by part.id desc limit ${sql.raw(String(limit))}))`
}

/** The same, for rows in the order of `newestFirst`: the first condition selects the index. */
function conditionsInOrder({ filter, reach, before }: InOrder): (SQL | undefined)[] {
  const { types = [], from } = filter
  const all = equalities({ filter, reach })
  const [prefix] = all
  const inReach = isReached(activity.projectId, reach)
  const isPast = (than: SQL, id: string) =>
    prefix
      ? sql`(${prefix[0]}, ${activity.id}) ${than} (${prefix[1]}, ${id}::uuid)`
      : sql`${activity.id} ${than} ${id}::uuid`
  return [
    ...all.map(([column, value]) =>
      column === prefix?.[0] ? isWithin(column, value) : opaque(eq(column, value)),
    ),
    onlyProjectOf(reach) === null ? inReach && opaque(inReach) : undefined,
    types.length > 1 ? opaque(inArray(activity.type, types)) : undefined,
    from === undefined ? undefined : isPast(sql`>=`, from),
    before === undefined ? undefined : isPast(sql`<`, before),
  ]
}

/**
 * The activity of rare types: a place may have little or none of it, and its own would be read to the end. Undefined where
 * there is more, or where the index of types is read anyway.
 */
async function findFew(db: Executor, request: ReachedFilter): Promise<SQL | undefined> {
  const { types = [] } = request.filter
  const isReadByType = equalities(request)[0]?.[0] === activity.type && !isOfSeveral(request)
  if (types.length === 0 || isReadByType) return undefined
  const rows = sql`
    select few.id from unnest(${sql.param(types)}::text[]) as wanted (type) cross join lateral (
      select id from ${activity} where type >= wanted.type and type <= wanted.type
      order by type desc, id desc limit ${sql.raw(String(MAX_FEW + 1))}
    ) as few`
  const beyond = await db.execute(sql`${rows} offset ${sql.raw(String(MAX_FEW))}`)
  return beyond.rowCount === 0 ? sql`${activity.id} = any(array(${rows}))` : undefined
}

const MAX_FEW = 500

function newestFirst(request: ReachedFilter): SQL[] {
  const [prefix] = equalities(request)
  return [...(prefix ? [desc(prefix[0])] : []), desc(activity.id)]
}

/** Columns that must have one value, those of the fewest rows first. */
function equalities({
  filter: { taskId, actorId, projectId, types },
  reach,
}: ReachedFilter): [AnyColumn, string | SQL][] {
  const type = types?.length === 1 ? types[0] : undefined
  const all: [AnyColumn, string | SQL | undefined][] = [
    [activity.taskId, taskId],
    [activity.actorId, actorId],
    [activity.projectId, projectId],
    [activity.projectId, onlyProjectOf(reach) ?? undefined],
    [activity.type, type],
  ]
  return all.filter((each): each is [AnyColumn, string | SQL] => each[1] !== undefined)
}
