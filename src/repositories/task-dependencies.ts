import { and, isNull, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'
import { isReached, type Reach } from './reach.ts'
import { IS_BLOCKED } from './task-readiness.ts'

/** A task, and the tasks that it is blocked by. */
export interface DependentTask {
  id: string
  blockedBy: string[]
}

/** What tasks are blocked by. */
export function taskDependenciesRepository(db: Executor, reach: Reach) {
  return {
    /**
     * Until the transaction ends, no other one adds dependencies in these projects: two that see no cycle could make one
     * together. Taken before tasks are locked, in the same order everywhere.
     */
    async lock(projectIds: string[]): Promise<void> {
      await db.execute(sql`
        select pg_advisory_xact_lock(key) from (
          select distinct hashtextextended('dependencies ' || id, 0) as key
          from unnest(${sql.param(projectIds)}::uuid[]) as project (id) order by key
        ) as locks`)
    },

    /** The projects of those of the tasks that exist and are not deleted. */
    async projectsOf(ids: string[]): Promise<Map<string, string>> {
      const inReach = isReached(tasks.projectId, reach)
      const rows = await db
        .select({ id: tasks.id, projectId: tasks.projectId })
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${sql.param(ids)}::uuid[])`, inReach, isNull(tasks.deletedAt)))
      return new Map(rows.map(({ id, projectId }) => [id, projectId]))
    },

    /**
     * These tasks and all that they wait for, directly or not, within their projects, until there are more than `limit`.
     * Deleted ones, too, because they can be restored.
     */
    async listReached(ids: string[], limit: number): Promise<DependentTask[]> {
      const { rows } = await db.execute<DependentTask & Record<string, unknown>>(sql`
        with recursive reached (id, project_id) as (
          select id, project_id from ${tasks} where id = any(${sql.param(ids)}::uuid[])
          union
          select blocker, reached.project_id from reached
          join ${tasks} on tasks.id = reached.id and tasks.project_id = reached.project_id
          cross join unnest(tasks.blocked_by) as blocker
        ), bounded as materialized (
          select id, project_id from reached limit ${sql.raw(String(limit + 1))}
        )
        select bounded.id, coalesce(blocked_by, '{}') as "blockedBy" from bounded
        left join ${tasks} on tasks.id = bounded.id and tasks.project_id = bounded.project_id`)
      return rows
    },

    /** Which of the tasks are blocked by one that still has to be done. */
    async listBlocked(ids: string[]): Promise<Set<string>> {
      const rows = await db
        .select({ id: tasks.id })
        .from(tasks)
        .where(and(sql`${tasks.id} = any(${sql.param(ids)}::uuid[])`, sql.raw(`(${IS_BLOCKED})`)))
      return new Set(rows.map(({ id }) => id))
    },
  }
}
