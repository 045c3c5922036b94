import { eq, inArray, sql } from '../db/drizzle.ts'
import { projectDeletions } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'

export type ProjectDeletionRow = typeof projectDeletions.$inferSelect

/** Projects that are being deleted: their trash is emptied first, in batches. */
export function projectDeletionsRepository(db: Executor) {
  return {
    async save(row: ProjectDeletionRow): Promise<void> {
      await db.insert(projectDeletions).values(row).onConflictDoNothing()
    },

    async cancel(projectId: string): Promise<void> {
      await db.delete(projectDeletions).where(eq(projectDeletions.projectId, projectId))
    },

    /** Locks a deletion, any or a given one, until the transaction ends. Never waits. */
    async claim(projectId: string | undefined): Promise<ProjectDeletionRow | undefined> {
      const [row] = await db
        .select()
        .from(projectDeletions)
        .where(projectId === undefined ? undefined : eq(projectDeletions.projectId, projectId))
        .orderBy(sql`random()`)
        .limit(1)
        .for('update', { skipLocked: true })
      return row
    },

    /** Removes at most `limit` deleted tasks of a project; returns how many. Skips locked ones. */
    async deleteHidden(projectId: string, limit: number): Promise<number> {
      const batch = db
        .select({ id: tasks.id })
        .from(tasks)
        .where(sql`${tasks.projectId} = ${projectId} and ${tasks.deletedAt} is not null`)
        .limit(limit)
        .for('update', { skipLocked: true })
      const { rowCount } = await db.delete(tasks).where(inArray(tasks.id, batch))
      return rowCount ?? 0
    },

    /** Whether the trash of a project has more than `count` tasks. */
    async hasMoreHidden(projectId: string, count: number): Promise<boolean> {
      const rows = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(sql`${tasks.projectId} = ${projectId} and ${tasks.deletedAt} is not null`)
        .offset(count)
        .limit(1)
      return rows.length > 0
    },
  }
}
