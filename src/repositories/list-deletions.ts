import { and, eq, or, sql } from '../db/drizzle.ts'
import { listDeletions, lists, projects } from '../db/tables/projects.ts'
import type { Executor, Reach } from './index.ts'

export type ListDeletionRow = typeof listDeletions.$inferSelect

/** Lists that are being deleted: their tasks are moved first, in batches. */
export function listDeletionsRepository(db: Executor, reach: Reach) {
  const inReach = reach.projectId === null ? undefined : eq(listDeletions.projectId, reach.projectId)

  return {
    /** Starts a deletion; if one has started, only changes its destination. */
    async save(row: ListDeletionRow): Promise<void> {
      const { targetId, moveTo } = row
      await db
        .insert(listDeletions)
        .values(row)
        .onConflictDoUpdate({ target: listDeletions.listId, set: { targetId, moveTo } })
    },

    async find(listId: string): Promise<ListDeletionRow | undefined> {
      const [row] = await db
        .select()
        .from(listDeletions)
        .where(and(eq(listDeletions.listId, listId), inReach))
      return row
    },

    /**
     * Locks a deletion, any or a given one, and its project until the transaction ends. Never waits: it skips deletions
     * that another instance works on, and those of archived or locked projects.
     */
    async claim(listId: string | undefined): Promise<ListDeletionRow | undefined> {
      const condition = and(listId === undefined ? undefined : eq(listDeletions.listId, listId), inReach)
      // In random order, so that a blocked deletion does not delay the others.
      const { rows } = await db.execute<{ id: string }>(sql`
        select ${listDeletions.listId} as id from ${listDeletions} join ${projects} on ${projects.id} = ${listDeletions.projectId}
        where ${projects.archivedAt} is null and ${condition ?? sql`true`} order by random() limit 1
        for key share of projects skip locked for update of list_deletions skip locked`)
      return rows[0] && this.find(rows[0].id)
    },

    /** Locks the list's own deletion and those that move tasks to it, in the same order everywhere. */
    async listAboutForUpdate(listId: string): Promise<ListDeletionRow[]> {
      return db
        .select()
        .from(listDeletions)
        .where(and(or(eq(listDeletions.listId, listId), eq(listDeletions.targetId, listId)), inReach))
        .orderBy(listDeletions.listId)
        .for('update')
    },

    /** Changes the destination of deletions. */
    async redirect(fromId: string, toId: string): Promise<void> {
      await db
        .update(listDeletions)
        .set({ targetId: toId })
        .where(and(eq(listDeletions.targetId, fromId), inReach))
    },

    /** Stops new tasks from being routed to the list; inserts in progress still succeed. */
    async refuseNewTasks(listId: string): Promise<void> {
      await db
        .update(lists)
        .set({ isClosing: true })
        .where(and(eq(lists.id, listId), eq(lists.isClosing, false)))
    },
  }
}
