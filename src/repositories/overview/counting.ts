import { type PgTable, type SQL, sql } from '../../db/drizzle.ts'
import { activity } from '../../db/tables/activity.ts'
import { changeFeed, changes } from '../../db/tables/changes.ts'
import {
  closedWeeks,
  countedTaskChanges,
  countedTasks,
  feedbackWeeks,
  openedWeeks,
  overviewProgress,
  reportWeeks,
  untriagedCounts,
} from '../../db/tables/overview.ts'
import { tasks } from '../../db/tables/tasks.ts'
import { feedbackProperty } from '../feedback-properties.ts'
import type { Executor } from '../index.ts'
import { opaque } from '../task-page-conditions.ts'

type Progress = Pick<typeof overviewProgress.$inferSelect, 'position' | 'filledTo' | 'isFilled'>

/** Counts for the overview, outside any reach. */
export function overviewCountsRepository(db: Executor) {
  return {
    /** Whether all tasks are counted, but for the latest changes. */
    async isFilled(): Promise<boolean> {
      const [row] = await db.select({ isFilled: overviewProgress.isFilled }).from(overviewProgress)
      return row?.isFilled ?? false
    },

    /** What was counted; locked until the transaction ends. Never waits: undefined while another instance counts. */
    async lock(): Promise<Progress | undefined> {
      await db.execute(sql`
        insert into ${overviewProgress} (position, filled_to) select last_position, ${ZERO_ID}::uuid from ${changeFeed}
        where not exists (select from ${overviewProgress}) on conflict do nothing`)
      const { position, filledTo, isFilled } = overviewProgress
      const [row] = await db
        .select({ position, filledTo, isFilled })
        .from(overviewProgress)
        .for('update', { skipLocked: true })
      return row
    },

    /** Counts tasks after an ID that were there before; returns how many. Under the lock, as the next one. */
    async fill({ filledTo }: Progress, limit: number): Promise<number> {
      return count(sql`
        touched as materialized (select id from ${tasks} where id > ${filledTo}::uuid order by id limit ${limit}),
        ${recounting}, advanced as (
          update ${overviewProgress} set
            filled_to = coalesce((select id from touched order by id desc limit 1), filled_to),
            is_filled = (select count(*) from touched) < ${limit}
        )
        select count(*)::integer as count from touched`)
    },

    /** Counts what has changed after a position; returns how many changes that were. */
    async follow({ position }: Progress, limit: number): Promise<number> {
      return count(sql`
        page as materialized (
          select position, activity_id from ${changes} where position > ${position} order by position limit ${limit}
        ), silent as (
          delete from ${countedTaskChanges}
          where ctid = any(array(select ctid from ${countedTaskChanges} limit ${limit} for update skip locked))
          returning task_id
        ), touched as materialized (
          select task_id as id from page cross join lateral (
            select task_id, type from ${activity} where id = page.activity_id limit 1
          ) as logged
          where task_id is not null and (type like 'task.%' or type like 'comment.%')
          union select task_id from silent
        ),
        ${recounting}, advanced as (
          update ${overviewProgress} set position = (select max(position) from page) where exists (select from page)
        )
        select greatest((select count(*) from page), (select count(*) from silent))::integer as count`)
    },
  }

  async function count(statement: SQL): Promise<number> {
    const { rows } = await db.execute<{ count: number }>(sql`with ${statement}`)
    return rows[0]?.count ?? 0
  }
}

const ZERO_ID = '00000000-0000-0000-0000-000000000000'

/** The Monday of a time, in UTC. */
const weekOf = (time: SQL): SQL => sql`date_trunc('week', ${time} at time zone 'UTC')::date`

const IS_CLOSING = sql`type = 'task.completed' or type = 'task.merged' and closing.created_at = tasks.completed_at`

/** Who closed the task: what made it done last. A task that was done before it was merged is of whoever completed it. */
const CLOSER = sql`
  case coalesce((
    select actor_type from ${activity} as closing
    where closing.task_id = tasks.id and ${opaque(IS_CLOSING)}
    order by closing.sequence desc limit 1
  ), created_by_type)
    when 'user' then 'people' when 'session' then 'people' when 'assistant' then 'assistants'
    when 'codehost' then 'host' else 'other' end`

const SENTIMENT = feedbackProperty('sentiment')
const VERSION = feedbackProperty('app_version')
const COUNTED_SENTIMENTS = sql.raw(feedbackWeeks.sentiment.enumValues.map((name) => `'${name}'`).join(', '))
/** Whether it is feedback about a version, with a sentiment that is counted. */
const IS_FEEDBACK = sql`${SENTIMENT} in (${COUNTED_SENTIMENTS}) and ${VERSION} is not null`

/** What is counted of a task: columns of `counted_tasks`. */
const COUNTED: Record<string, SQL> = {
  project_id: sql`project_id`,
  source: sql`source`,
  opened_at: sql`opened_at`,
  completed_at: sql`completed_at`,
  closer: sql`case when status = 'done' then ${CLOSER} end`,
  days: sql`
    case when merged_into is not null then -1
      when status = 'done' then greatest(0, floor(extract(epoch from completed_at - opened_at) / 86400))::integer end`,
  is_to_triage: sql`not triaged and status <> 'done' and snoozed_until is null`,
  version: sql`case when ${IS_FEEDBACK} then ${VERSION} end`,
  sentiment: sql`case when ${IS_FEEDBACK} then ${SENTIMENT} end`,
  report_of: sql`coalesce(merged_into, case when report_count > 0 then tasks.id end)`,
}

const names = Object.keys(COUNTED)
const NAMES = sql.raw(names.join(', '))
const VALUES = sql.join(
  Object.entries(COUNTED).map(([name, value]) => sql`${value} as ${sql.raw(name)}`),
  sql`, `,
)
const REPLACED = sql.raw(names.map((name) => `${name} = excluded.${name}`).join(', '))

/** Adds the differences to the counts of a table. */
const adding = (table: PgTable, { keys, values, where }: Adding): SQL => sql`
  insert into ${table} (${sql.raw(keys)}, count)
  select ${values}, sum(sign) from differences where ${where}
  group by ${sql.raw(
    keys
      .split(', ')
      .map((_, index) => index + 1)
      .join(', '),
  )} having sum(sign) <> 0
  on conflict (${sql.raw(keys)}) do update set count = ${table}.count + excluded.count`

interface Adding {
  keys: string
  values: SQL
  where: SQL
}

const OPENED_WEEK = weekOf(sql`opened_at`)

/**
 * Parts of a `with` that count the tasks of `touched` as they are now, instead of as they were counted. Repeating them
 * changes nothing. One statement sees a task and its activity at the same moment.
 */
const recounting = sql`
  present as materialized (
    select id as task_id, counted.* from touched cross join lateral (
      select ${VALUES} from ${tasks} where tasks.id = touched.id and deleted_at is null limit 1
    ) as counted
  ), before as materialized (
    select counted.* from touched cross join lateral (
      select task_id, ${NAMES} from ${countedTasks} where task_id = touched.id limit 1
    ) as counted
  ), differences as materialized (
    select -1 as sign, * from (table before except table present) as old
    union all select 1, * from (table present except table before) as new
  ), opened as (
    ${adding(openedWeeks, {
      keys: 'project_id, week, source',
      values: sql`project_id, ${OPENED_WEEK}, source`,
      where: sql`true`,
    })}
  ), closed as (
    ${adding(closedWeeks, {
      keys: 'project_id, week, closer, days',
      values: sql`project_id, ${weekOf(sql`completed_at`)}, closer, days`,
      where: sql`completed_at is not null`,
    })}
  ), untriaged as (
    ${adding(untriagedCounts, {
      keys: 'project_id',
      values: sql`project_id`,
      where: sql`is_to_triage`,
    })}
  ), feedback as (
    ${adding(feedbackWeeks, {
      keys: 'project_id, week, version, sentiment',
      values: sql`project_id, ${OPENED_WEEK}, version, sentiment`,
      where: sql`sentiment is not null`,
    })}
  ), reports as (
    ${adding(reportWeeks, {
      keys: 'project_id, week, task_id',
      values: sql`project_id, ${OPENED_WEEK}, report_of`,
      where: sql`report_of is not null`,
    })}
  ), forgotten as (
    delete from ${countedTasks} where task_id in (
      select task_id from before where task_id not in (select task_id from present))
  ), remembered as (
    insert into ${countedTasks} (task_id, ${NAMES}) select task_id, ${NAMES} from differences where sign = 1
    on conflict (task_id) do update set ${REPLACED}
  )`
