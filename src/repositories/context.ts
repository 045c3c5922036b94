import { and, asc, desc, eq, isNull, sql } from '../db/drizzle.ts'
import { lists, projects } from '../db/tables/projects.ts'
import type { Executor } from './index.ts'
import { openCount } from './lists.ts'
import { isReached, onlyProjectOf, type Reach } from './reach.ts'
import { IS_IN_ACTIVE_PROJECT } from './task-readiness.ts'

export interface ContextListRow {
  id: string
  name: string
  projectId: string
  projectName: string
  isDefault: boolean
  openCount: number
}

/** Queries for the context of assistants. */
export function contextRepository(db: Executor, reach: Reach) {
  return {
    /** The lists that tasks can be put into: the default project's first, then by project. */
    async listDestinations(projectId: string | null, limit: number): Promise<ContextListRow[]> {
      return db
        .select({
          id: lists.id,
          name: lists.name,
          projectId: lists.projectId,
          projectName: projects.name,
          isDefault: lists.isDefault,
          openCount,
        })
        .from(lists)
        .innerJoin(projects, eq(projects.id, lists.projectId))
        .where(
          and(
            isNull(projects.archivedAt),
            isReached(lists.projectId, reach),
            projectId === null ? undefined : eq(lists.projectId, projectId),
          ),
        )
        .orderBy(desc(projects.isDefault), asc(projects.id), asc(lists.position), asc(lists.id))
        .limit(limit)
    },

    /**
     * Counts open tasks and tasks in progress, in one snapshot. Unfinished tasks have a stored count; those in progress
     * are counted in the index on (list, status), without reading tasks: it alone has the order of a range of statuses.
     * Of an equality, PostgreSQL without statistics might read all tasks of a list.
     */
    async countTasks(
      projectId: string | null,
      { includeArchived = false } = {},
    ): Promise<{ open: number; inProgress: number }> {
      const isNamed = (projectId ?? onlyProjectOf(reach)) !== null
      const conditions = [
        isReached(lists.projectId, reach),
        projectId === null ? undefined : eq(lists.projectId, projectId),
        isNamed || includeArchived ? undefined : sql.raw(IS_IN_ACTIVE_PROJECT),
      ]
      const { rows } = await db.execute<{ not_done: number; in_progress: number }>(sql`
        select coalesce(sum(${openCount}), 0)::integer as not_done,
          coalesce(sum(progress.count), 0)::integer as in_progress
        from lists, lateral (
          select count(*) from (
            select from tasks
            where list_id = lists.id and status between 'in_progress' and 'in_progress' and deleted_at is null
            order by status offset 0
          ) as tasks
        ) as progress
        where ${and(...conditions) ?? sql`true`}`)
      const { not_done = 0, in_progress = 0 } = rows[0] ?? {}
      return { open: not_done - in_progress, inProgress: in_progress }
    },
  }
}
