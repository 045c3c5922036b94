import { type NodePgDatabase, sql } from '../../db/drizzle.ts'
import { changesRepository } from '../changes.ts'
import { nameOf } from '../export/index.ts'
import { EXPORTED_TABLES } from '../export/tables.ts'

/** Writes what follows from the imported rows, and what the planner has to know of them. */
export async function completeImport(db: NodePgDatabase): Promise<{ defaults: number; withoutList: number }> {
  for (const statement of COUNTS) await db.execute(statement)
  await db.execute(sql`alter table tasks enable trigger user`)
  // Without statistics, pages of a million tasks would be read as those of an empty table until the next autovacuum.
  await db.execute(
    sql.raw(`analyze ${[...EXPORTED_TABLES.map(nameOf), 'task_texts', 'task_names'].join(', ')}`),
  )
  // First: it waits for a pass that gives positions to the activity that was deleted, and ends later ones.
  await changesRepository(db).renewEpoch()
  await db.execute(sql`delete from changes`)
  const { rows } = await db.execute<{ defaults: number; withoutList: number }>(sql`
    select (select count(*)::integer from projects where is_default) as defaults,
      (select count(*)::integer from projects where not exists (
        select from lists where project_id = projects.id and is_default)) as "withoutList"`)
  return rows[0] ?? { defaults: 0, withoutList: 0 }
}

const COUNTS = [
  sql`update lists set open_count = counted.open
    from (
      select list_id, count(*) as open from tasks where status <> 'done' and deleted_at is null group by list_id
    ) as counted
    where id = counted.list_id`,
  sql`update tasks set comment_count = counted.comments
    from (select task_id, count(*) as comments from comments group by task_id) as counted
    where id = counted.task_id`,
  sql`update tasks set report_count = counted.reports
    from (
      select merged_into, count(*) as reports from tasks
      where merged_into is not null and deleted_at is null group by merged_into
    ) as counted
    where id = counted.merged_into`,
  sql`insert into task_names (kind, project_id, key, name, task_count, open_count)
    select kind, project_id, lower(name), (array_agg(name order by id))[1], count(*),
      count(*) filter (where status <> 'done')
    from tasks, lateral (
      select 'label' as kind, unnest(labels) as name union all select 'assignee', unnest(assignees)
    ) as names
    where deleted_at is null
    group by kind, project_id, lower(name)`,
]
