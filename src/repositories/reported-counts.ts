import { and, isNull, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import { type FeedbackProperty, feedbackProperty } from './feedback-properties.ts'
import type { Executor } from './index.ts'
import { utc } from './task-json.ts'

/** How many tasks have a value of a property of feedback. */
export interface ReportedCount {
  property: FeedbackProperty
  name: string
  count: number
}

/** What tasks and their reports have in common. */
export interface Reported {
  counts: ReportedCount[]
  /** In ISO 8601; null if there are no tasks. */
  firstOpenedAt: string | null
  lastOpenedAt: string | null
}

/** 80 ms, with notes of 200 characters. */
const MAX_COUNTED = 10_000
const MAX_VALUES = 50

/**
 * Counts what was sent with tasks and their newest reports, each once: of each property, the most frequent values first.
 */
export async function countReported(
  db: Executor,
  { ids, inReach }: { ids: string[]; inReach: SQL | undefined },
): Promise<Reported> {
  const targets = sql`${sql.param(ids)}::uuid[]`
  const limit = sql.raw(String(MAX_COUNTED))
  // With a limit, each is found by its id. Of the reports, an index has all that is read to find the newest.
  const { rows } = await db.execute<Reported & Record<string, unknown>>(sql`
    with target as materialized (
      select tasks.id from (select distinct unnest(${targets}) as id) as named
      cross join lateral (select * from ${tasks} where tasks.id = named.id limit 1) as tasks
      where ${and(isNull(tasks.deletedAt), inReach)}
    ), counted as materialized (
      select id from target
      union all
      select * from (
        select report.id from target cross join lateral (
          select tasks.id from ${tasks}
          where merged_into = target.id and deleted_at is null and tasks.id <> all(${targets})
          order by tasks.id desc limit ${limit}
        ) as report
        order by report.id desc limit ${limit}
      ) as newest
      limit ${limit}
    ), reported as materialized (
      select tasks.metadata, tasks.opened_at
      from counted cross join lateral (select * from ${tasks} where tasks.id = counted.id limit 1) as tasks
      where ${inReach ?? sql`true`}
    ), sent as (
      select 'sentiment' as property, ${feedbackProperty('sentiment')} as name from reported
      union all
      select 'app_version', ${feedbackProperty('app_version')} from reported
    ), frequent as (
      select property, name, count(*)::integer as count,
        row_number() over (partition by property order by count(*) desc, name) as place
      from sent where name is not null group by property, name
    )
    select
      (select coalesce(json_agg(frequent order by property, place), '[]')
        from frequent where place <= ${sql.raw(String(MAX_VALUES))}) as counts,
      (select ${sql.raw(utc('min(opened_at)'))} from reported) as "firstOpenedAt",
      (select ${sql.raw(utc('max(opened_at)'))} from reported) as "lastOpenedAt"`)
  const [reported] = rows
  if (!reported) throw new Error('An aggregate without a row.')
  return reported
}
