import { eq, sql } from '../db/drizzle.ts'
import { projectDeletions } from '../db/tables/projects.ts'
import { tasks } from '../db/tables/tasks.ts'
import { MAX_COMMENTS, withFewComments } from './few-comments.ts'
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

    async exists(projectId: string): Promise<boolean> {
      const rows = await db
        .select({ projectId: projectDeletions.projectId })
        .from(projectDeletions)
        .where(eq(projectDeletions.projectId, projectId))
      return rows.length > 0
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

    /**
     * Removes at most `limit` deleted tasks of a project, fewer if they have many comments. Skips locked ones. Returns how
     * many it removed, and whether it left some to the next batch.
     */
    async deleteHidden(projectId: string, limit: number): Promise<{ count: number; isFull: boolean }> {
      const { rows } = await db.execute<{ found: number; removed: number }>(sql`
        with found as materialized (
          select id, comment_count from ${tasks} where project_id = ${projectId} and deleted_at is not null
          limit ${limit} for update skip locked
        ), removed as (
          delete from ${tasks} where id in (${withFewComments(sql`select * from found`)}) returning 1
        )
        select (select count(*) from found)::integer as found, (select count(*) from removed)::integer as removed`)
      const { found = 0, removed = 0 } = rows[0] ?? {}
      return { count: removed, isFull: found === limit || removed < found }
    },

    /** Whether the trash of a project has more than `count` tasks, or many comments. */
    async hasMoreHidden(projectId: string, count: number): Promise<boolean> {
      const { rows } = await db.execute<{ has_more: boolean }>(sql`
        select count(*) > ${count} or sum(comment_count) > ${MAX_COMMENTS} as has_more from (
          select comment_count from ${tasks} where project_id = ${projectId} and deleted_at is not null
          limit ${count}::integer + 1
        ) as hidden`)
      return rows[0]?.has_more ?? false
    },
  }
}
