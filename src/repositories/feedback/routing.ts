import { and, asc, eq, gt, or, sql } from '../../db/drizzle.ts'
import { named } from '../../db/named.ts'
import { webhookRouting } from '../../db/tables/feedback.ts'
import type { Executor } from '../index.ts'

export type RoutingRow = typeof webhookRouting.$inferSelect

/** A project as routing sees it, with the list that takes its feedback, when there is one. */
export interface RoutedProjectRow {
  id: string
  name: string
  isDefault: boolean
  isArchived: boolean
  listId: string | null
}

export interface RoutingTableRows {
  rules: Omit<RoutingRow, 'createdAt' | 'updatedAt'>[]
  projects: RoutedProjectRow[]
}

const readTable = named<{ rules: RoutingTableRows['rules']; projects: RoutedProjectRow[] }>(
  'routing table',
  sql`
    select
      (select coalesce(json_agg(json_build_object(
        'id', id, 'name', name, 'projectMatch', project_match, 'appMatch', app_match,
        'targetProjectId', target_project_id, 'position', position, 'isActive', is_active)), '[]')
      from webhook_routing) as rules,
      (select json_agg(json_build_object(
        'id', id, 'name', name, 'isDefault', is_default, 'isArchived', archived_at is not null,
        'listId', (select lists.id from lists
          where project_id = projects.id and lists.name = ${sql.placeholder('listName')} and not is_closing
          order by created_at, id limit 1)))
      from projects
      where is_default or id in (select target_project_id from webhook_routing)
        or id = any(${sql.placeholder('ids')}::uuid[])
        or lower(name) = any(array(
          select lower(told) from unnest(${sql.placeholder('names')}::text[]) as told))) as projects`,
)

/** The rules that say where feedback goes. They are the whole service's: there is no reach. */
export function routingRepository(db: Executor) {
  const inOrder = [asc(webhookRouting.position), asc(webhookRouting.id)]

  return {
    async insert(row: RoutingRow): Promise<void> {
      await db.insert(webhookRouting).values(row)
    },

    async find(id: string): Promise<RoutingRow | undefined> {
      const [row] = await db.select().from(webhookRouting).where(eq(webhookRouting.id, id))
      return row
    },

    /** By position. */
    async list(after: { position: number; id: string } | undefined, limit: number): Promise<RoutingRow[]> {
      const isAfter =
        after &&
        or(
          gt(webhookRouting.position, after.position),
          and(eq(webhookRouting.position, after.position), gt(webhookRouting.id, after.id)),
        )
      return db
        .select()
        .from(webhookRouting)
        .where(isAfter)
        .orderBy(...inOrder)
        .limit(limit)
    },

    /** All of them by position, locked until the transaction ends, new ones included: the table itself is the lock. */
    async listForUpdate(): Promise<RoutingRow[]> {
      await db.execute('lock table webhook_routing in share row exclusive mode')
      return db
        .select()
        .from(webhookRouting)
        .orderBy(...inOrder)
    },

    async update(id: string, change: Partial<RoutingRow>): Promise<void> {
      await db.update(webhookRouting).set(change).where(eq(webhookRouting.id, id))
    },

    async delete(id: string): Promise<void> {
      await db.delete(webhookRouting).where(eq(webhookRouting.id, id))
    },

    /** Gives these rules, all there are, the positions 0, 1, 2, ... */
    async reorder(ids: string[]): Promise<void> {
      await db.execute(sql`
        update ${webhookRouting} set position = wanted.place - 1
        from unnest(${sql.param(ids)}::uuid[]) with ordinality as wanted (id, place)
        where ${webhookRouting.id} = wanted.id and ${webhookRouting.position} <> wanted.place - 1`)
    },

    /**
     * What decisions are made of, in one round trip: the rules, and the projects that they, the events or nobody
     * names. Which projects an event really names is decided by who asks; this only leaves out most.
     */
    async findTable(ids: string[], names: string[], listName: string): Promise<RoutingTableRows> {
      const { rows } = await readTable(db, { ids, names, listName })
      return { rules: rows[0]?.rules ?? [], projects: rows[0]?.projects ?? [] }
    },
  }
}
