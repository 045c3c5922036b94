import { and, isNull, type SQL, sql } from '../../db/drizzle.ts'
import { closedWeeks, countedTasks, openedWeeks, untriagedCounts } from '../../db/tables/overview.ts'
import { projects } from '../../db/tables/projects.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { Executor } from '../index.ts'
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

/** What the overview shows, within a reach. */
export function overviewRepository(db: Executor, reach: Reach) {
  return {
    async read({ projectId, from, to }: WeekRange): Promise<CountedWeeks> {
      const place = projectId === undefined ? reach : { projectIds: [projectId] }
      const isShown = and(
        isReached(projects.id, reach),
        isReached(projects.id, place),
        onlyProjectOf(place) === null ? isNull(projects.archivedAt) : undefined,
      )
      const within = sql`project_id in (select id from place) and week between ${from}::date and ${to}::date`
      const { rows } = await db.execute<CountedWeeks & Record<string, unknown>>(sql`
        with place as materialized (select id from ${projects} where ${isShown ?? sql`true`}),
        closed as materialized (
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
          ) as oldest) as "oldestOpenAt"`)
      const [row] = rows
      if (!row) throw new Error('An aggregate without a row.')
      return row
    },
  }
}

const listOf = (rows: SQL): SQL => sql`(select coalesce(json_agg(rows), '[]') from (${rows}) as rows)`
