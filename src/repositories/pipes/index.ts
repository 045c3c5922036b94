import { and, or, type SQL, sql } from '../../db/drizzle.ts'
import { pipeHours, pipePauses, pipes } from '../../db/tables/pipes.ts'
import { databaseTime } from '../codehost/database-time.ts'
import type { Executor } from '../index.ts'
import { isAmong, type Reach } from '../reach.ts'
import { configuredPipes, dayOf, type EnvironmentPipe, firstDayOf, pipesWithState } from './configured.ts'

export type { EnvironmentPipe } from './configured.ts'

/** Which pipe. */
export interface PipeName {
  kind: (typeof pipes.$inferSelect)['kind']
  /** Of a row, or `feedback` or `env`. */
  id: string
}

/** What became of the attempts of a pipe since the last ones were stored. Times are how long ago, in milliseconds. */
export interface PipeAttempts extends PipeName {
  succeeded: number
  failed: number
  firstMs: number
  lastMs: number
  lastSuccessMs: number | null
  lastErrorMs: number | null
  /** Since when all have failed; null if the last one succeeded. */
  failingMs: number | null
  code: string | null
  detail: string | null
}

interface PipeHour {
  ago: number
  succeeded: number
  failed: number
}

export interface PipeRow extends PipeName {
  name: string
  projectId: string | null
  state: 'ok' | 'failing' | 'silent' | 'off'
  /** Whether the service has switched it off. */
  isGivenUp: boolean
  lastSuccessAt: Date | null
  lastErrorAt: Date | null
  errorCode: string | null
  errorDetail: string | null
  /** By how many hours ago; those without attempts are missing. */
  hours: PipeHour[]
}

interface PipeFilter {
  kinds: PipeName['kind'][] | undefined
  states?: PipeRow['state'][] | undefined
  /** Leaves out what belongs to other projects. */
  projectId?: string | undefined
  /** Whether to include what belongs to no project. */
  ofService: boolean
  /** At most so many rows of each kind in each state, the first ones. */
  perState?: number | undefined
}

interface ListedPipes {
  rows: PipeRow[]
  counts: (Pick<PipeRow, 'kind' | 'state'> & { count: number })[]
}

type SelectedPipe = Omit<PipeRow, 'lastSuccessAt' | 'lastErrorAt' | 'hours'> &
  Record<'lastSuccessMs' | 'lastErrorMs', number | null> & {
    /** Its place among those of its kind and state, and how many these are. */
    place: number
    count: number
    currentHour: number
    /** The hour of the day, and both counts: JSON takes three times as long. */
    hours: string | null
  }

/** A pipe that has begun to fail, or works again. */
export interface ChangedPipe extends PipeName {
  name: string
  projectId: string | null
  isFailing: boolean
  errorCode: string | null
}

/** From one activity that says that a pipe fails to the next. */
const LOG_INTERVAL = sql.raw(`interval '5 minutes'`)

const hourOf = (time: SQL) => sql`date_trunc('hour', ${time}, 'UTC')`
const msOf = (column: string) => sql`(extract(epoch from ${sql.raw(column)}) * 1000)::float8`
/** A time, from how long ago it was. */
const ago = (column: string) => sql`now - ${sql.raw(`"${column}"`)} * interval '1 millisecond'`

/** What began to fail last is not known yet, so it comes before what has failed for long. */
const ORDER = sql`case when state = 'failing' then failing_since end desc nulls last, lower(name), id`

/** How the ways in and out do. */
export function pipesRepository(db: Executor, environment: EnvironmentPipe | undefined) {
  const configured = configuredPipes(environment)

  return {
    /** Those within a reach that match, by kind, and how many there are. */
    async list(reach: Reach, { perState, ...filter }: PipeFilter): Promise<ListedPipes> {
      const { rows } = await db.execute<SelectedPipe>(sql`
        select kind, id, name, project_id as "projectId", state, is_given_up as "isGivenUp", place, count,
          ${msOf('last_success_at')} as "lastSuccessMs", ${msOf('last_error_at')} as "lastErrorMs",
          error_code as "errorCode", error_detail as "errorDetail",
          extract(hour from ${databaseTime} at time zone 'UTC')::integer as "currentHour", (
            select string_agg(extract(hour from hour at time zone 'UTC')::text || ' ' || succeeded || ' ' || failed, ',')
            from ${pipeHours} where (pipe_hours.kind, pipe_hours.id) = (present.kind, present.id)
              and hour > ${hourOf(databaseTime)} - interval '24 hours') as hours
        from (
          select *, count(*) over (partition by kind, state)::integer as count,
            (row_number() over (partition by kind, state order by ${ORDER}))::integer as place
          from (${pipesWithState(environment)}) as configured where ${isMatch(reach, filter)}
        ) as present where ${perState === undefined ? sql`true` : sql`place <= ${Math.max(1, perState)}`}
        order by array_position(${sql.raw(`array['${pipes.kind.enumValues.join(`', '`)}']`)}, kind),
          ${ORDER}`)
      const first = rows.filter(({ place }) => place === 1)
      return {
        rows: perState === 0 ? [] : rows.map(toRow),
        counts: first.map(({ kind, state, count }) => ({ kind, state, count })),
      }
    },

    /**
     * Adds attempts, but for pipes that were deleted or switched off meanwhile. Senders of a source that the service has
     * switched off are refused as strangers are: that says nothing about their secrets.
     */
    async add(attempts: PipeAttempts[]): Promise<void> {
      await db.execute(sql`
        with given as (
          select *, ${ago('firstMs')} as first_at, ${ago('lastMs')} as last_at
          from json_to_recordset(${JSON.stringify(attempts)}::json) as given(kind text, id text, succeeded integer,
            failed integer, "firstMs" float8, "lastMs" float8, "lastSuccessMs" float8, "lastErrorMs" float8,
            "failingMs" float8, code text, detail text)
          cross join ${databaseTime} as clock(now)
        ), known as materialized (
          select given.* from given join (${configured}) as configured using (kind, id)
          where is_on and not (
            kind = 'source' and is_given_up and coalesce(code in ('missing_credentials', 'invalid_credentials'), false)
          )
          order by kind, id
        ), stored as (
          insert into ${pipes} as pipe (kind, id, last_attempt_at, last_success_at, last_error_at, error_code,
            error_detail, failing_since)
          select kind, id, last_at, ${ago('lastSuccessMs')}, ${ago('lastErrorMs')}, code, detail, ${ago('failingMs')}
          from known
          on conflict (kind, id) do update set
            last_attempt_at = greatest(pipe.last_attempt_at, excluded.last_attempt_at),
            last_success_at = greatest(pipe.last_success_at, excluded.last_success_at),
            last_error_at = greatest(pipe.last_error_at, excluded.last_error_at),
            error_code = case when ${isLaterError} then excluded.error_code else pipe.error_code end,
            error_detail = case when ${isLaterError} then excluded.error_detail else pipe.error_detail end,
            failing_since = case
              when excluded.last_attempt_at < pipe.last_attempt_at then pipe.failing_since
              when excluded.last_success_at is null then coalesce(pipe.failing_since, excluded.failing_since)
              else excluded.failing_since end
        ), paused as (
          select kind, id, ${dayOf(sql`first_at`)} as day,
            extract(epoch from first_at - last_attempt_at)::integer as seconds
          from known join ${pipes} using (kind, id) where first_at >= last_attempt_at
        ), longer as (
          insert into ${pipePauses} as pause (kind, id, day, longest_seconds)
          select kind, id, day, seconds from paused left join ${pipePauses} as known using (kind, id, day)
          where seconds > coalesce(known.longest_seconds, -1)
          on conflict (kind, id, day) do update
            set longest_seconds = greatest(pause.longest_seconds, excluded.longest_seconds)
        )
        insert into ${pipeHours} as counted (kind, id, hour, succeeded, failed)
        select kind, id, ${hourOf(sql`last_at`)}, succeeded, failed from known
        on conflict (kind, id, hour) do update set succeeded = counted.succeeded + excluded.succeeded,
          failed = counted.failed + excluded.failed`)
    },

    /** Whether any may have to be logged. */
    async isAnyChanged(): Promise<boolean> {
      const { rows } = await db.execute(sql`select from ${pipes} where ${isUnlogged} limit 1`)
      return rows.length > 0
    },

    /**
     * Marks at most `limit` pipes as logged that have begun to fail, or work again, and returns them. One that failed
     * less than five minutes ago waits, so that one that does so all the time is not logged all the time. The lock makes
     * one of concurrent transactions log each; the others skip it.
     */
    async takeChanged(limit: number): Promise<ChangedPipe[]> {
      const { rows } = await db.execute<ChangedPipe & Record<string, unknown>>(sql`
        with changed as (
          select pipes.kind, pipes.id, name, project_id from ${pipes} join (${configured}) as configured using (kind, id)
          where is_on and ${isUnlogged}
            and (is_logged_as_failing or failure_logged_at is null
              or failure_logged_at <= ${databaseTime} - ${LOG_INTERVAL})
          order by pipes.kind, pipes.id limit ${limit} for update of pipes skip locked
        )
        update ${pipes} as pipe set is_logged_as_failing = not is_logged_as_failing,
          failure_logged_at = case when is_logged_as_failing then failure_logged_at else ${databaseTime} end
        from changed where (pipe.kind, pipe.id) = (changed.kind, changed.id)
        returning pipe.kind, pipe.id, name, project_id as "projectId", is_logged_as_failing as "isFailing",
          error_code as "errorCode"`)
      return rows
    },

    /** Removes at most `limit` counts of past hours. Returns how many it removed. */
    async deletePastHours(limit: number): Promise<number> {
      const isPast = sql`hour <= ${hourOf(databaseTime)} - interval '24 hours'`
      const result = await db.execute(sql`
        delete from ${pipeHours} where (kind, id, hour) in (
          select kind, id, hour from ${pipeHours} where ${isPast} order by hour limit ${limit} for update skip locked)`)
      return result.rowCount ?? 0
    },

    /** The same for pauses before the four weeks that end with the last attempt. */
    async deletePastPauses(limit: number): Promise<number> {
      const result = await db.execute(sql`
        delete from ${pipePauses} where (kind, id, day) in (
          select kind, id, day from ${pipePauses} as pause join ${pipes} using (kind, id)
          where day < ${firstDayOf(databaseTime)} and day < ${firstDayOf(sql`last_attempt_at`)}
          order by day limit ${limit} for update of pause skip locked)`)
      return result.rowCount ?? 0
    },
  }
}

function isMatch(
  reach: Reach,
  { kinds, states, projectId, ofService }: Omit<PipeFilter, 'perState'>,
): SQL | undefined {
  const isOfService = ofService && reach.projectIds === null ? sql`project_id is null` : undefined
  const projectIds = projectId === undefined ? reach.projectIds : [projectId]
  const isInReach = projectIds === null ? sql`project_id is not null` : isAmong(sql`project_id`, projectIds)
  return and(
    or(isInReach, isOfService),
    kinds && sql`kind = any(${sql.param(kinds)}::text[])`,
    states && sql`state = any(${sql.param(states)}::text[])`,
  )
}

function toRow({
  lastSuccessMs,
  lastErrorMs,
  currentHour,
  hours,
  place,
  count,
  ...row
}: SelectedPipe): PipeRow {
  return {
    ...row,
    lastSuccessAt: dateAt(lastSuccessMs),
    lastErrorAt: dateAt(lastErrorMs),
    hours: hours?.split(',').map((counts) => hourIn(counts, currentHour)) ?? [],
  }
}

const dateAt = (ms: number | null) => (ms === null ? null : new Date(ms))

function hourIn(counts: string, currentHour: number): PipeHour {
  const [hour = 0, succeeded = 0, failed = 0] = counts.split(' ').map(Number)
  return { ago: (currentHour - hour + 24) % 24, succeeded, failed }
}

const isUnlogged = sql`(failing_since is not null) <> is_logged_as_failing`

const isLaterError = sql`excluded.last_error_at >= coalesce(pipe.last_error_at, '-infinity')`
