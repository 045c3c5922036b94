import { and, eq, isNull, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'

/** How many tasks have a value of a property of feedback. */
export interface ReportedCount {
  property: 'sentiment' | 'app_version'
  name: string
  count: number
}

/** 80 ms, with notes of 200 characters. */
const MAX_COUNTED = 10_000
const MAX_VALUES = 50

/** Counts what was sent with a task and its newest reports: of each property, the most frequent values first. */
export async function countReported(
  db: Executor,
  { id, inReach }: { id: string; inReach: SQL | undefined },
): Promise<ReportedCount[]> {
  const isReport = and(eq(tasks.mergedInto, id), isNull(tasks.deletedAt), inReach)
  const { rows } = await db.execute<ReportedCount & Record<string, unknown>>(sql`
    with reported as (
      select metadata -> 'properties' as properties from ${tasks} where ${and(eq(tasks.id, id), inReach)}
      union all
      (select metadata -> 'properties' from ${tasks} where ${isReport}
        order by ${tasks.id} desc limit ${sql.raw(String(MAX_COUNTED))})
    ), counted as (
      select property, properties ->> property as name, count(*)::integer as count,
        row_number() over (partition by property order by count(*) desc, properties ->> property) as place
      from reported, unnest(array['sentiment', 'app_version']) as property
      where properties ->> property <> ''
      group by property, properties ->> property
    )
    select property, name, count from counted where place <= ${sql.raw(String(MAX_VALUES))} order by property, place`)
  return rows
}
