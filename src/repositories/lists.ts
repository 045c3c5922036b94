import { violates } from '../db/database-error.ts'
import { and, asc, eq, getTableColumns, gt, type SQL, sql } from '../db/drizzle.ts'
import { preparedStatement } from '../db/prepared-statement.ts'
import { lists, projects } from '../db/tables/projects.ts'
import { listCountChanges } from '../db/tables/task-counts.ts'
import { listNotEmpty } from '../errors/index.ts'
import { namingUnavailable } from './database-away.ts'
import type { Executor } from './index.ts'
import { isReached, isReachedBy, onlyProjectOf, type Reach } from './reach.ts'

/** `openCount` is as of the last aggregation; methods with `counted` in their name return the exact one. */
export type ListRow = typeof lists.$inferSelect

export interface ListPageRequest {
  /** The end of the previous page. */
  after: { position: number; id: string } | undefined
  limit: number
}

/** A list that tasks can be put into, unless its project is archived. */
export interface DestinationRow {
  listId: string
  projectId: string
  projectName: string
  isArchived: boolean
  /** Whether tasks that arrive in the project are to be triaged. */
  isTriageOn: boolean
  /** Of its open tasks, as of the last aggregation. */
  openCount: number
}

/**
 * A list's open tasks: the aggregated count plus pending changes, in one snapshot, so none is counted twice. The changes
 * of all lists are added up once for a statement. Column names are written out, because drizzle omits the table name in a
 * select from one table.
 */
export const openCount = sql<number>`(lists.open_count + coalesce((
  select jsonb_object_agg(list_id, change)
  from (select list_id, sum(change) as change from ${listCountChanges} group by list_id) as pending
) ->> lists.id::text, '0')::integer)`

/** A list, or some projects, or all. */
interface ListsPlace extends Reach {
  listId: string | undefined
}

/** The ids of the lists of a place. */
export const listsIn = (place: ListsPlace): SQL =>
  sql`select id from ${lists} where ${isListIn(place) ?? sql`true`}`

/** How many tasks of a place are open. */
export async function countOpenTasks(db: Executor, place: ListsPlace): Promise<number> {
  const { rows } = await db.execute<{ count: number }>(sql`
    select coalesce(sum(${openCount}), 0)::integer as count from ${lists} where ${isListIn(place) ?? sql`true`}`)
  return rows[0]?.count ?? 0
}

const isListIn = ({ listId, ...reach }: ListsPlace): SQL | undefined =>
  and(isReached(lists.projectId, reach), listId === undefined ? undefined : eq(lists.id, listId))

const isInReach = isReachedBy(sql`project_id`, sql.placeholder('reach'))
const findByList = findingDestination(
  'by list',
  sql`lists.id = ${sql.placeholder('listId')} and ${isInReach}`,
)
const listByIds = findingDestination(
  'by lists',
  sql`lists.id = any(${sql.placeholder('listIds')}::uuid[]) and ${isInReach}`,
)
const findDefaultOf = findingDestination(
  'default of project',
  sql`lists.is_default and project_id = ${sql.placeholder('projectId')}`,
)
const findDefault = findingDestination('default', sql`lists.is_default and projects.is_default`)

function findingDestination(name: string, condition: SQL) {
  return preparedStatement<DestinationRow>(
    `find destination ${name}`,
    sql`
      select lists.id as "listId", project_id as "projectId", projects.name as "projectName",
        archived_at is not null as "isArchived", triage = 'on' as "isTriageOn", open_count as "openCount"
      from ${lists} join ${projects} on projects.id = project_id
      where ${condition} and not is_closing`,
  )
}

export function listsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(lists.projectId, reach)

  return {
    async insert(row: ListRow): Promise<void> {
      await db.insert(lists).values(row)
    },

    async find(id: string): Promise<ListRow | undefined> {
      const [row] = await db
        .select()
        .from(lists)
        .where(and(eq(lists.id, id), inReach))
      return row
    },

    /** Pairs of id and name. */
    async listNames(ids: string[]): Promise<[string, string][]> {
      const rows = await db
        .select({ id: lists.id, name: lists.name })
        .from(lists)
        .where(and(sql`${lists.id} = any(${sql.param(ids)}::uuid[])`, inReach))
      return rows.map(({ id, name }) => [id, name])
    },

    async findCounted(id: string): Promise<ListRow | undefined> {
      const [row] = await counted(and(eq(lists.id, id), inReach))
      return row
    },

    /** By position. */
    async listCounted(projectId: string, { after, limit }: ListPageRequest): Promise<ListRow[]> {
      const isLater =
        after && sql`(${lists.position}, ${lists.id}) > (${after.position}::integer, ${after.id}::uuid)`
      return counted(and(eq(lists.projectId, projectId), inReach, isLater))
        .orderBy(asc(lists.position), asc(lists.id))
        .limit(limit)
    },

    /** Of all projects that are not archived, by id. */
    async listAllCounted({ after, limit }: { after: string | undefined; limit: number }): Promise<ListRow[]> {
      const isActive = sql`${lists.projectId} in (select id from ${projects} where archived_at is null)`
      return counted(and(inReach, isActive, after === undefined ? undefined : gt(lists.id, after)))
        .orderBy(asc(lists.id))
        .limit(limit)
    },

    /** Locks all lists of a project, in the order of ids as the aggregation does; returns them by position. */
    async listForUpdate(projectId: string): Promise<ListRow[]> {
      const rows = await db
        .select()
        .from(lists)
        .where(and(eq(lists.projectId, projectId), inReach))
        .orderBy(asc(lists.id))
        .for('no key update')
      return rows.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
    },

    /** Locks the list against new tasks until the transaction ends; waits for inserts in progress. */
    async close(id: string): Promise<void> {
      await db
        .select({ id: lists.id })
        .from(lists)
        .where(and(eq(lists.id, id), inReach))
        .for('update')
    },

    /** The same without waiting: returns false if inserts are in progress. */
    async tryClose(id: string): Promise<boolean> {
      const rows = await db
        .select({ id: lists.id })
        .from(lists)
        .where(and(eq(lists.id, id), inReach))
        .for('update', { skipLocked: true })
      return rows.length > 0
    },

    async update(id: string, change: Partial<Pick<ListRow, 'name'>>): Promise<void> {
      await db
        .update(lists)
        .set(change)
        .where(and(eq(lists.id, id), inReach))
    },

    /** Sets the positions of all lists of a project: 0, 1, 2, ... */
    async reorder(ids: string[]): Promise<void> {
      await db.execute(sql`
        update ${lists} set position = ordered.place - 1
        from unnest(${sql.param(ids)}::uuid[]) with ordinality as ordered (id, place)
        where ${lists.id} = ordered.id and ${lists.position} <> ordered.place - 1`)
    },

    async delete({ id, name }: Pick<ListRow, 'id' | 'name'>): Promise<void> {
      await db
        .delete(lists)
        .where(and(eq(lists.id, id), inReach))
        .catch((error) => {
          // A task was restored into it meanwhile.
          if (violates(error, 'tasks_list_in_project')) throw listNotEmpty(name)
          throw error
        })
    },

    /**
     * The destination of a task: the given list, else the default list of the reach's only project, or of the default
     * project if all are in reach.
     */
    async findDestination(listId: string | undefined): Promise<DestinationRow | undefined> {
      const { rows } = listId
        ? await findByList(db, { listId, reach: reach.projectIds })
        : reach.projectIds === null
          ? await findDefault(db, {})
          : await findDefaultOf(db, { projectId: onlyProjectOf(reach) })
      return rows[0]
    },

    /** The default list of a project. */
    async findDefaultOf(projectId: string): Promise<DestinationRow | undefined> {
      const { rows } = await findDefaultOf(db, { projectId })
      return rows[0]
    },

    /**
     * Those of the given lists that tasks can be put into.
     * @throws AppError `unavailable` when the database is away.
     */
    async listDestinations(listIds: string[]): Promise<DestinationRow[]> {
      const { rows } = await listByIds(db, { listIds, reach: reach.projectIds }).catch(namingUnavailable)
      return rows
    },
  }

  function counted(condition: SQL | undefined) {
    return db
      .select({ ...getTableColumns(lists), openCount })
      .from(lists)
      .where(condition)
      .$dynamic()
  }
}
