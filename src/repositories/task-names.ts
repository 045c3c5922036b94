import { type SQL, sql } from '../db/drizzle.ts'
import { projects } from '../db/tables/projects.ts'
import { taskNameChanges, taskNames } from '../db/tables/task-names.ts'
import type { Executor, Reach } from './index.ts'

export interface NameFilter {
  kind: 'label' | 'assignee'
  projectId?: string | undefined
  /** Part of the name, in any case. */
  text?: string | undefined
}

export interface UsedName {
  name: string
  openCount: number
}

/** How many of the most used names are searched: about 30 ms. */
const MAX_NAMES = 20_000

/** The labels and assignees of tasks, and how many tasks have them. */
export function taskNamesRepository(db: Executor, reach: Reach) {
  return {
    /** Most used first. Unused names are omitted. */
    async list(filter: NameFilter, limit: number): Promise<UsedName[]> {
      const condition = sql`kind = ${filter.kind} and ${inProject(filter.projectId ?? reach.projectId)}`
      const pattern = `%${(filter.text ?? '').replace(/[\\%_]/g, '\\$&')}%`
      // Counts and pending changes are read in one snapshot, so that none is counted twice.
      const { rows } = await db.execute<UsedName & Record<string, unknown>>(sql`
        with used as (
          (select key, name, task_count as tasks, open_count as open, null::tid as place from ${taskNames}
            where ${condition} order by open_count desc limit ${MAX_NAMES})
          union all
          select lower(name), name, task_change, open_change, ctid from ${taskNameChanges} where ${condition}
        )
        select (array_agg(name order by place nulls first))[1] as name, sum(open)::integer as "openCount"
        from used where key like lower(${pattern})
        group by key having sum(tasks) > 0
        order by "openCount" desc, key limit ${limit}`)
      return rows
    },

    /**
     * Adds pending changes to the counts; returns how many. One statement, so a reader sees a change in one
     * place or the other. Names are locked in one order, so two at once wait for each other instead of deadlocking.
     */
    async aggregate(limit: number): Promise<number> {
      const { rows } = await db.execute<{ taken: number }>(sql`
        with taken as (
          delete from ${taskNameChanges}
          where ctid = any(array(
            select ctid from ${taskNameChanges} limit ${limit} for update skip locked))
          returning kind, project_id, name, task_change, open_change, ctid as place
        ), sums as (
          select kind, project_id, lower(name) as key, (array_agg(name order by place))[1] as name,
            sum(task_change) as tasks, sum(open_change) as open
          from taken group by kind, project_id, lower(name)
          having sum(task_change) <> 0 or sum(open_change) <> 0
        ), added as (
          insert into ${taskNames} (kind, project_id, key, name, task_count, open_count)
          select kind, project_id, key, name, tasks, open from sums order by kind, project_id, key
          on conflict (kind, project_id, key) do update set
            task_count = ${taskNames}.task_count + excluded.task_count,
            open_count = ${taskNames}.open_count + excluded.open_count
        )
        select count(*)::integer as taken from taken`)
      return rows[0]?.taken ?? 0
    },
  }
}

/** Without a project: all that are not archived. */
function inProject(projectId: string | null): SQL {
  return projectId === null
    ? sql`project_id in (select id from ${projects} where archived_at is null)`
    : sql`project_id = ${projectId}`
}
