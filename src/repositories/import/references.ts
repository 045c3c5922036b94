import { type NodePgDatabase, sql } from '../../db/drizzle.ts'

/** A line that refers to something it can't. */
export interface BadReference {
  line: number
  member: 'mergedInto' | 'listId'
  reason: 'no_task' | 'other_project' | 'merged' | 'no_list'
}

/** A task, and those that it is blocked by. */
export interface ImportedDependency {
  id: string
  line: number
  blockedBy: string[]
}

/** The lines of rows that refer to others. They are few, and only a table keeps them in constant memory. */
export async function createReferring(db: NodePgDatabase): Promise<void> {
  await db.execute(sql`create temporary table import_referring (id uuid, line integer) on commit drop`)
}

export async function addReferring(db: NodePgDatabase, rows: { id: string; line: number }[]): Promise<void> {
  await db.execute(sql`
    insert into import_referring
    select * from unnest(${sql.param(rows.map(({ id }) => id))}::uuid[], ${sql.param(rows.map(({ line }) => line))}::integer[])`)
}

/** A deleted report may refer to anything: restoring it checks that. */
export async function findBadReferences(db: NodePgDatabase): Promise<BadReference[]> {
  await db.execute(sql`analyze import_referring`)
  const { rows } = await db.execute<BadReference & Record<string, unknown>>(sql`
    select line, 'mergedInto' as member, case
      when target.id is null or target.deleted_at is not null then 'no_task'
      when target.project_id <> report.project_id then 'other_project'
      else 'merged'
    end as reason
    from import_referring
    join tasks as report on report.id = import_referring.id
    left join tasks as target on target.id = report.merged_into
    where report.merged_into is not null and report.deleted_at is null and (
      target.id is null or target.deleted_at is not null or target.project_id <> report.project_id
      or target.merged_into is not null)
    union all
    select line, 'listId', 'no_list'
    from import_referring
    join (
      select id, project_id, list_id from sources union all select id, project_id, list_id from codehost_connections
    ) as referring using (id)
    where not exists (
      select from lists where lists.id = referring.list_id and lists.project_id = referring.project_id)
    order by line limit 100`)
  return rows
}

/** Only blockers of the same project count, and only those that are blocked themselves can be part of a cycle. */
export async function listDependencies(db: NodePgDatabase): Promise<ImportedDependency[]> {
  const { rows } = await db.execute<ImportedDependency & Record<string, unknown>>(sql`
    select task.id, min(line) as line, array_agg(blocker.id) as "blockedBy"
    from import_referring
    join tasks as task on task.id = import_referring.id
    cross join unnest(task.blocked_by) as named (id)
    join tasks as blocker on blocker.id = named.id and blocker.project_id = task.project_id
      and blocker.blocked_by <> '{}'
    group by task.id
    order by min(line)`)
  return rows
}
