import { violates } from '../db/database-error.ts'
import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from '../db/drizzle.ts'
import { named } from '../db/named.ts'
import { listCountChanges, lists, projects } from '../db/tables/projects.ts'
import { listNotEmpty } from '../errors/index.ts'
import type { Executor, Reach } from './index.ts'

/** `openCount` is as of the last fold, but where a method says counted: there it is exact. */
export type ListRow = typeof lists.$inferSelect

export interface ListPageRequest {
  /** Where the page before ended. */
  after: { position: number; id: string } | undefined
  limit: number
}

/** A list that tasks can be put into, unless its project is archived. */
export interface DestinationRow {
  listId: string
  projectId: string
  projectName: string
  isArchived: boolean
}

/**
 * A list's open tasks: those folded in, and what came since. Both are read in one snapshot, so no fold doubles any.
 * The names are written out: in a select from one table drizzle takes the tables' names off the columns.
 */
export const openCount = sql<number>`(lists.open_count + (
  select coalesce(sum(change), 0) from list_count_changes where list_id = lists.id))::integer`

const reachProjectId = sql.placeholder('projectId')
const findByList = findingDestination(
  'by list',
  sql`lists.id = ${sql.placeholder('listId')} and (${reachProjectId}::uuid is null or project_id = ${reachProjectId}::uuid)`,
)
const findDefaultOf = findingDestination(
  'default of project',
  sql`lists.is_default and project_id = ${reachProjectId}`,
)
const findDefault = findingDestination('default', sql`lists.is_default and projects.is_default`)

function findingDestination(name: string, condition: SQL) {
  return named<DestinationRow>(
    `find destination ${name}`,
    sql`
      select lists.id as "listId", project_id as "projectId", projects.name as "projectName",
        archived_at is not null as "isArchived"
      from ${lists} join ${projects} on projects.id = project_id
      where ${condition} and not is_closing`,
  )
}

export function listsRepository(db: Executor, reach: Reach) {
  const inReach = reach.projectId === null ? undefined : eq(lists.projectId, reach.projectId)

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

    /** All lists of a project by position, locked. In the order of ids, as the fold locks them. */
    async listForUpdate(projectId: string): Promise<ListRow[]> {
      const rows = await db
        .select()
        .from(lists)
        .where(and(eq(lists.projectId, projectId), inReach))
        .orderBy(asc(lists.id))
        .for('no key update')
      return rows.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
    },

    /** No task comes into these until the transaction ends; those on their way are waited for. */
    async close(ids: string[]): Promise<void> {
      await db
        .select({ id: lists.id })
        .from(lists)
        .where(and(inArray(lists.id, ids), inReach))
        .orderBy(asc(lists.id))
        .for('update')
    },

    /** The same without waiting: false where tasks are on their way into the list. */
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

    /** Gives these lists, all of a project, the positions 0, 1, 2, ... */
    async reorder(ids: string[]): Promise<void> {
      await db.execute(sql`
        update ${lists} set position = wanted.place - 1
        from unnest(${sql.param(ids)}::uuid[]) with ordinality as wanted (id, place)
        where ${lists.id} = wanted.id and ${lists.position} <> wanted.place - 1`)
    },

    async delete({ id, name }: Pick<ListRow, 'id' | 'name'>): Promise<void> {
      await db
        .delete(lists)
        .where(and(eq(lists.id, id), inReach))
        .catch((error) => {
          // A task that was restored into it a moment ago.
          if (violates(error, 'tasks_list_in_project')) throw listNotEmpty(name)
          throw error
        })
    },

    /**
     * Adds pending changes to the counts of their lists; answers how many it took. One statement, so a reader sees
     * a change in one place or the other. Rows that another fold has taken are left to it, which excludes deadlocks.
     */
    async aggregateCountChanges(limit: number): Promise<number> {
      const { rows } = await db.execute<{ taken: number }>(sql`
        with taken as (
          delete from ${listCountChanges}
          where ctid = any(array(select ctid from ${listCountChanges} limit ${limit} for update skip locked))
          returning list_id, change
        ), sums as (
          select list_id, sum(change) as change from taken group by list_id having sum(change) <> 0
        ), locked as (
          select id from ${lists} where id in (select list_id from sums) order by id for no key update
        ), folded as (
          update ${lists} set open_count = open_count + sums.change
          from sums join locked on locked.id = sums.list_id
          where ${lists.id} = sums.list_id
        )
        select count(*)::integer as taken from taken`)
      return rows[0]?.taken ?? 0
    },

    /** Where a task goes: the list named, else the default list of the reach's project, else of the default project. */
    async findDestination(listId: string | undefined): Promise<DestinationRow | undefined> {
      const { projectId } = reach
      const { rows } = listId
        ? await findByList(db, { listId, projectId })
        : projectId
          ? await findDefaultOf(db, { projectId })
          : await findDefault(db, {})
      return rows[0]
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
