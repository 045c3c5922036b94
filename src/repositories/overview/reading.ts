import { and, isNull, type SQL, sql } from '../../db/drizzle.ts'
import {
  closedWeeks,
  countedTasks,
  feedbackWeeks,
  openedWeeks,
  reportWeeks,
  untriagedCounts,
} from '../../db/tables/overview.ts'
import { projects } from '../../db/tables/projects.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { Executor } from '../index.ts'
import { oneRow } from '../one-row.ts'
import { isReached, onlyProjectOf, type Reach } from '../reach.ts'
import { utc } from '../task-json.ts'

/** Weeks are named by their Monday, as 2026-11-23. */
export interface CountedWeeks {
  opened: { week: string; source: string; count: number }[]
  closed: { week: string; closer: string; count: number }[]
  /** How many of the closed tasks took so many days, in the order of days. Without reports. */
  days: { days: number; count: number }[]
  untriaged: number
  /** In ISO 8601. */
  oldestUntriagedAt: string | null
  oldestOpenAt: string | null
}

interface WeekRange {
  /** Without one, all projects in reach that are not archived. */
  projectId?: string | undefined
  /** The first and the last week. */
  from: string
  to: string
}

export interface CountedFeedback {
  versions: { week: string; version: string; loved: number; meh: number; frustrated: number }[]
  /** `weeks` has those in which there were reports. */
  problems: { taskId: string; title: string; reports: number; weeks: Record<string, number> }[]
}

interface FeedbackRange extends WeekRange {
  maxVersions: number
  maxProblems: number
}

/** What the overview shows, within a reach. */
export function overviewRepository(db: Executor, reach: Reach) {
  return {
    async read(range: WeekRange): Promise<CountedWeeks> {
      const within = isWithin(range)
      return oneRow<CountedWeeks>(
        db,
        sql`
        with ${placeOf(range)}, closed as materialized (
          select week, closer, days, sum(count)::integer as count from ${closedWeeks}
          where ${within} group by week, closer, days
        )
        select
          ${listOf(sql`select week::text, source, sum(count)::integer as count from ${openedWeeks}
            where ${within} group by week, source`)} as opened,
          ${listOf(sql`select week::text, closer, sum(count)::integer as count from closed
            group by week, closer`)} as closed,
          ${listOf(sql`select days, sum(count)::integer as count from closed
            where days >= 0 and count > 0 group by days order by days`)} as days,
          (select coalesce(sum(count), 0)::integer from ${untriagedCounts}
            where project_id in (select id from place)) as untriaged,
          (select ${sql.raw(utc('min(created_at)'))} from place cross join lateral (
            select task_id from ${countedTasks} where is_to_triage and project_id = place.id
            order by task_id limit 1
          ) as oldest join ${tasks} on ${tasks.id} = oldest.task_id) as "oldestUntriagedAt",
          (select ${sql.raw(utc('min(opened_at)'))} from place cross join lateral (
            select opened_at from ${countedTasks} where completed_at is null and project_id = place.id
            order by opened_at limit 1
          ) as oldest) as "oldestOpenAt"`,
      )
    },

    /** The versions with most feedback, and the tasks with most reports, in these weeks. */
    async readFeedback({ maxVersions, maxProblems, ...range }: FeedbackRange): Promise<CountedFeedback> {
      const within = isWithin(range)
      return oneRow<CountedFeedback>(
        db,
        sql`
        with ${placeOf(range)}, feedback as materialized (
          select week, version, sentiment, sum(count)::integer as count from ${feedbackWeeks}
          where ${within} and count > 0 group by week, version, sentiment
        ), frequent as (
          select version from feedback group by version
          order by sum(count) desc, version limit ${sql.raw(String(maxVersions))}
        ), reported as materialized (
          select task_id, week, count from ${reportWeeks} where ${within} and count > 0
        ), problems as materialized (
          select task_id, sum(count)::integer as reports from reported group by task_id
          order by reports desc, task_id limit ${sql.raw(String(maxProblems))}
        ), problem_weeks as materialized (
          select task_id, json_object_agg(week, count) as weeks from reported
          where task_id = any(array(select task_id from problems)) group by task_id
        )
        select
          ${listOf(sql`select week::text, version, ${SENTIMENT_COUNTS}
            from feedback where version in (select version from frequent)
            group by week, version order by week, version`)} as versions,
          ${listOf(sql`select task_id as "taskId", title, reports, weeks
            from problems join problem_weeks using (task_id) join ${tasks} on ${tasks.id} = task_id where deleted_at is null
            order by reports desc, task_id`)} as problems`,
      )
    },
  }

  /** The projects of a request. */
  function placeOf({ projectId }: WeekRange): SQL {
    const place = projectId === undefined ? reach : { projectIds: [projectId] }
    const isShown = and(
      isReached(projects.id, reach),
      isReached(projects.id, place),
      onlyProjectOf(place) === null ? isNull(projects.archivedAt) : undefined,
    )
    return sql`place as materialized (select id from ${projects} where ${isShown ?? sql`true`})`
  }
}

const isWithin = ({ from, to }: WeekRange): SQL =>
  sql`project_id in (select id from place) and week between ${from}::date and ${to}::date`

const SENTIMENT_COUNTS = sql.raw(
  feedbackWeeks.sentiment.enumValues
    .map((name) => `coalesce(sum(count) filter (where sentiment = '${name}'), 0)::integer as ${name}`)
    .join(', '),
)

const listOf = (rows: SQL): SQL => sql`(select coalesce(json_agg(rows), '[]') from (${rows}) as rows)`
