import { and, eq, or, sql } from '../db/drizzle.ts'
import { listDeletions, lists, projects } from '../db/tables/projects.ts'
import type { Executor, Reach } from './index.ts'

export type ListDeletionRow = typeof listDeletions.$inferSelect

/** Lists that are being deleted: their tasks go to another one first, some at a time. */
export function listDeletionsRepository(db: Executor, reach: Reach) {
  const inReach = reach.projectId === null ? undefined : eq(listDeletions.projectId, reach.projectId)

  return {
    /** Of one that has begun already, only where the tasks go is new. */
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
     * Locks one of them until the transaction ends, any or this one, and holds its project as it is. Waits for nobody:
     * what another instance is at, and what belongs to a project that is archived or locked, is passed over.
     */
    async claim(listId: string | undefined): Promise<ListDeletionRow | undefined> {
      const condition = and(listId === undefined ? undefined : eq(listDeletions.listId, listId), inReach)
      // One that gets nowhere for a while holds up no other.
      const { rows } = await db.execute<{ id: string }>(sql`
        select ${listDeletions.listId} as id from ${listDeletions} join ${projects} on ${projects.id} = ${listDeletions.projectId}
        where ${projects.archivedAt} is null and ${condition ?? sql`true`} order by random() limit 1
        for key share of projects skip locked for update of list_deletions skip locked`)
      return rows[0] && this.find(rows[0].id)
    },

    /** Locks those that have to do with this list, in one order everywhere: its own, and those that lead to it. */
    async listAboutForUpdate(listId: string): Promise<ListDeletionRow[]> {
      return db
        .select()
        .from(listDeletions)
        .where(and(or(eq(listDeletions.listId, listId), eq(listDeletions.targetId, listId)), inReach))
        .orderBy(listDeletions.listId)
        .for('update')
    },

    /** Deletions whose tasks went to one list lead to another from now on. */
    async redirect(fromId: string, toId: string): Promise<void> {
      await db
        .update(listDeletions)
        .set({ targetId: toId })
        .where(and(eq(listDeletions.targetId, fromId), inReach))
    },

    /** From now on no task finds its way into the list; those on their way still come. */
    async refuseNewTasks(listId: string): Promise<void> {
      await db
        .update(lists)
        .set({ isClosing: true })
        .where(and(eq(lists.id, listId), eq(lists.isClosing, false)))
    },
  }
}
