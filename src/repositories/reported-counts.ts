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
  /** Of the task that this is about; null for all of them together. */
  taskId: string | null
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
 * All of them together come first, then each task with its reports.
 */
export async function countReported(
  db: Executor,
  { ids, inReach }: { ids: string[]; inReach: SQL | undefined },
): Promise<[Reported, ...Reported[]]> {
  const targets = sql`${sql.param(ids)}::uuid[]`
  const limit = sql.raw(String(MAX_COUNTED))
  // With a limit, each is found by its id. Of the reports, an index has all that is read to find the newest.
  const { rows } = await db.execute<Reported & Record<string, unknown>>(sql`
    with target as materialized (
      select tasks.id from (select distinct unnest(${targets}) as id) as named
      cross join lateral (select * from ${tasks} where tasks.id = named.id limit 1) as tasks
      where ${and(isNull(tasks.deletedAt), inReach)}
    ), counted as materialized (
      select id, id as target from target
      union all
      select * from (
        select report.id, target.id as target from target cross join lateral (
          select tasks.id from ${tasks}
          where merged_into = target.id and deleted_at is null and tasks.id <> all(${targets})
          order by tasks.id desc limit ${limit}
        ) as report
        order by report.id desc limit ${limit}
      ) as newest
      limit ${limit}
    ), reported as materialized (
      select target, tasks.metadata, tasks.opened_at
      from counted cross join lateral (select * from ${tasks} where tasks.id = counted.id limit 1) as tasks
      where ${inReach ?? sql`true`}
    ), sent as (
      select target, 'sentiment' as property, ${feedbackProperty('sentiment')} as name from reported
      union all
      select target, 'app_version', ${feedbackProperty('app_version')} from reported
    ), frequent as (
      select target, property, name, count(*)::integer as count,
        row_number() over (partition by target, property order by count(*) desc, name) as place
      from sent where name is not null group by grouping sets ((property, name), (target, property, name))
    ), listed as (
      select target, json_agg(frequent order by property, place) as counts
      from frequent where place <= ${sql.raw(String(MAX_VALUES))} group by target
    ), opened as (
      select target, ${sql.raw(utc('min(opened_at)'))} as first, ${sql.raw(utc('max(opened_at)'))} as last
      from reported group by grouping sets ((), (target))
    )
    select opened.target as "taskId", coalesce(counts, '[]') as counts,
      first as "firstOpenedAt", last as "lastOpenedAt"
    from opened left join listed on listed.target is not distinct from opened.target
    order by opened.target nulls first`)
  const [all, ...each] = rows
  if (!all) throw new Error('An aggregate without a row.')
  return [all, ...each]
}
