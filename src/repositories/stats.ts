import { inArray, sql } from '../db/drizzle.ts'
import { syncRuns } from '../db/tables/codehost.ts'
import { codehostWrites } from '../db/tables/codehost-writes.ts'
import { deliveries } from '../db/tables/deliveries.ts'
import { feedbackUnreadable } from '../db/tables/feedback.ts'
import { tasks } from '../db/tables/tasks.ts'
import { webhookDeliveries, webhooks } from '../db/tables/webhooks.ts'
import { ACTIVE_STATUSES } from '../domain/codehost/progress.ts'
import type { Executor } from './index.ts'
import { oneRow } from './one-row.ts'
import { type EnvironmentPipe, pipesWithState } from './pipes/configured.ts'

/** Metrics that are read from the database. */
export interface Stats {
  /** When the database server was started, in seconds since 1970. */
  startedAt: number
  /** Feedback deliveries since a day that were not JSON. */
  unreadable: number
  /** How long the oldest delivery of a code host waits to be applied; 0 if there is none. */
  oldestPushSeconds: number
  /** Claims whose lease is not over. */
  openClaims: number
  /** How long the oldest delivery to an active outgoing webhook waits; 0 if there is none. */
  oldestWebhookDeliverySeconds: number
  /** Outgoing webhooks: `failing` ones wait after a failure. */
  webhooks: { active: number; failing: number; off: number }
  /** What is received and sent through. `failingSeconds` is of the one that has failed longest; 0 if none fails. */
  pipes: { kind: string; state: string; count: number; failingSeconds: number }[]
  /** Sync runs that have not ended, and writes to code hosts that wait or have failed. */
  jobs: { queue: string; state: string; count: number }[]
}

interface StatsOptions {
  /** A day, as 2026-11-21. */
  since: string
  /** The identity provider of the environment. */
  environment: EnvironmentPipe | undefined
}

/** Maximum number of claims, of jobs per queue, and of deliveries that are read. */
const MAX_COUNTED = 10_000

/** Statistics for metrics. The cost of a read is bounded for tables of any size. */
export function statsRepository(db: Executor) {
  return {
    async read({ since, environment }: StatsOptions): Promise<Stats> {
      return oneRow<Stats>(
        db,
        sql`
        select extract(epoch from pg_postmaster_start_time())::float8 as "startedAt",
          (select coalesce(sum(count), 0)::int from ${feedbackUnreadable} where day >= ${since}) as unreadable,
          (select coalesce(greatest(0, extract(epoch from clock_timestamp() - min(received_at))), 0)::float8
            from (${waitingPushes}) as waiting) as "oldestPushSeconds",
          (select count(*)::int from (${openClaims}) as claims) as "openClaims",
          (select coalesce(greatest(0, extract(epoch from clock_timestamp() - min(created_at))), 0)::float8
            from (${oldestDeliveries}) as oldest) as "oldestWebhookDeliverySeconds",
          (${webhookStates}) as webhooks,
          (select json_agg(counted) from (
            select kind, state, count(*)::int as count, greatest(0, extract(epoch from
              clock_timestamp() - min(failing_since)))::float8 as "failingSeconds"
            from (${pipesWithState(environment)}) as pipes group by kind, state) as counted) as pipes,
          (select coalesce(json_agg(counted), '[]') from (
            select queue, state, count(*)::int as count from (${syncs} union all ${writes}) as work
            group by queue, state) as counted) as jobs`,
      )
    },
  }
}

const waitingPushes = sql`
  select received_at from ${deliveries}
    where receiver = 'codehost' and outcome = 'pending' and next_attempt_at is not null
    order by next_attempt_at limit ${MAX_COUNTED}`

const openClaims = sql`
  select from ${tasks} where claim_expires_at > (select clock_timestamp()) limit ${MAX_COUNTED}`

/** The oldest of each webhook. */
const oldestDeliveries = sql`
  select oldest.created_at from ${webhooks} cross join lateral (
    select created_at from ${webhookDeliveries} where webhook_id = ${webhooks.id} and outcome <> 'delivered'
      and position is not null
    order by position limit 1) as oldest
  where ${webhooks.isActive}`

const webhookStates = sql`
  select json_build_object('active', count(*) filter (where is_active and failures = 0),
    'failing', count(*) filter (where is_active and failures > 0), 'off', count(*) filter (where not is_active))
  from ${webhooks}`

const syncs = sql`
  (select 'sync' as queue, status as state from ${syncRuns}
    where ${inArray(syncRuns.status, ACTIVE_STATUSES)} limit ${MAX_COUNTED})`

const writes = sql`
  (select 'write_back', case status when 'pending' then 'queued' else status end from ${codehostWrites}
    where status in ('pending', 'failed') limit ${MAX_COUNTED})`
