import { and, asc, eq, gt, or, sql } from '../../db/drizzle.ts'
import { opaqueArray, preparedStatement } from '../../db/prepared-statement.ts'
import { webhookRouting } from '../../db/tables/feedback.ts'
import type { RoutingTable } from '../../domain/feedback/routing.ts'
import type { Executor } from '../index.ts'

export type RoutingRow = typeof webhookRouting.$inferSelect

const readTable = preparedStatement<RoutingTable>(
  'routing table',
  sql`
    select
      (select coalesce(json_agg(json_build_object(
        'id', id, 'name', name, 'projectMatch', project_match, 'appMatch', app_match,
        'targetProjectId', target_project_id, 'position', position, 'isActive', is_active)), '[]')
      from webhook_routing) as rules,
      (select json_agg(json_build_object(
        'id', id, 'name', name, 'isDefault', is_default, 'isArchived', archived_at is not null,
        'groupFeedback', group_feedback, 'triage', triage,
        'listId', (select lists.id from lists
          where project_id = projects.id and lists.name = ${sql.placeholder('listName')} and not is_closing
          order by created_at, id limit 1)))
      from projects
      where is_default or id in (select target_project_id from webhook_routing)
        or id = any(${opaqueArray('ids', 'uuid')})
        or lower(normalize(name)) = any(array(
          select lower(normalize(given)) from unnest(${opaqueArray('names', 'text')}) as given))) as projects`,
)

/** Routing rules. They belong to the whole service, so they have no reach. */
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

    /** Locks the table until the transaction ends, also against new rules; returns all rules by position. */
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

    /** Sets the positions of all rules: 0, 1, 2, ... */
    async reorder(ids: string[]): Promise<void> {
      await db.execute(sql`
        update ${webhookRouting} set position = ordered.place - 1
        from unnest(${sql.param(ids)}::uuid[]) with ordinality as ordered (id, place)
        where ${webhookRouting.id} = ordered.id and ${webhookRouting.position} <> ordered.place - 1`)
    },

    /**
     * Reads the input of routing decisions in one round trip: all rules, the projects they route to, the default project,
     * and projects that the events may name. The caller decides which projects an event names.
     */
    async findTable({
      ids,
      names,
      listName,
    }: {
      ids: string[]
      names: string[]
      listName: string
    }): Promise<RoutingTable> {
      const { rows } = await readTable(db, { ids, names, listName })
      return { rules: rows[0]?.rules ?? [], projects: rows[0]?.projects ?? [] }
    },
  }
}
