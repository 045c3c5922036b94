import { sql } from '../db/drizzle.ts'
import { lists } from '../db/tables/projects.ts'
import { taskCountChanges } from '../db/tables/task-counts.ts'
import { taskNames } from '../db/tables/task-names.ts'
import type { Executor } from './index.ts'

/** The open counts of lists, and how many tasks have each label and assignee. */
export function taskCountsRepository(db: Executor) {
  return {
    /**
     * Adds pending changes to the counts; returns how many. One statement, so that readers see each change exactly once.
     * Skips rows that a concurrent aggregation has locked. Lists and names are locked in one order, so two at once wait
     * for each other instead of deadlocking.
     */
    async aggregate(limit: number): Promise<number> {
      const { rows } = await db.execute<{ taken: number }>(sql`
        with taken as (
          delete from ${taskCountChanges}
          where ctid = any(array(select ctid from ${taskCountChanges} limit ${limit} for update skip locked))
          returning *, ctid as place
        ), sums as (
          select list_id, sum(sign) as change from taken where is_open group by list_id having sum(sign) <> 0
        ), locked as (
          select id from ${lists} where id in (select list_id from sums) order by id for no key update
        ), aggregated as (
          update ${lists} set open_count = open_count + sums.change
          from sums join locked on locked.id = sums.list_id
          where ${lists.id} = sums.list_id
        ), name_sums as (
          select kind, project_id, lower(name) as key, (array_agg(name order by place))[1] as name,
            sum(sign) as tasks, sum(case when is_open then sign else 0 end) as open
          from taken, lateral (
            select 'label' as kind, unnest(labels) as name union all select 'assignee', unnest(assignees)
          ) as names
          group by kind, project_id, lower(name)
          having sum(sign) <> 0 or sum(case when is_open then sign else 0 end) <> 0
        ), named as (
          insert into ${taskNames} (kind, project_id, key, name, task_count, open_count)
          select kind, project_id, key, name, tasks, open from name_sums order by kind, project_id, key
          on conflict (kind, project_id, key) do update set
            task_count = ${taskNames}.task_count + excluded.task_count,
            open_count = ${taskNames}.open_count + excluded.open_count
        )
        select count(*)::integer as taken from taken`)
      return rows[0]?.taken ?? 0
    },
  }
}
