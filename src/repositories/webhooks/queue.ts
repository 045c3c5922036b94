import { and, asc, eq, getTableColumns, gt, isNotNull, ne, sql } from '../../db/drizzle.ts'
import { activity } from '../../db/tables/activity.ts'
import { tasks } from '../../db/tables/tasks.ts'
import { webhookDeliveries, webhooks } from '../../db/tables/webhooks.ts'
import type { ActivityRow } from '../activity.ts'
import { databaseTime, inMs } from '../codehost/database-time.ts'
import type { Executor } from '../index.ts'
import { leasesOf } from '../leases.ts'
import { taskJson } from '../task-json.ts'
import type { WebhookDeliveryRow } from './deliveries.ts'
import { NO_FAILURES, type WebhookRow } from './webhooks.ts'

/** Allows one worker to send to a webhook. */
export type WebhookLease = Pick<WebhookRow, 'id' | 'lease'>

/** A webhook as it was read, as far as what an attempt ended with says something about it. */
type AsRead = Pick<WebhookRow, 'failures' | 'url'>

/** What is to be sent. */
export interface WaitingDelivery {
  id: string
  position: number
  activity: ActivityRow
  /**
   * The task as it is now, as JSON in its summary form. Null without one, if it is deleted, and if it is no longer in the
   * project of the webhook.
   */
  task: string | null
}

/** An attempt that has ended. */
export type Attempt = Pick<
  WebhookDeliveryRow,
  'webhookId' | 'id' | 'outcome' | 'durationMs' | 'responseStatus' | 'responseBody' | 'error'
>

/** Of deliveries that are still to be sent. */
export const isWaiting = and(
  ne(webhookDeliveries.outcome, 'delivered'),
  isNotNull(webhookDeliveries.position),
)
const { transaction: _, sequence: __, ...activityColumns } = getTableColumns(activity)

/** The queue of all webhooks. Its times are the database's: the clocks of instances may differ. */
export function webhookQueueRepository(db: Executor) {
  const leases = leasesOf(db, { table: webhooks, key: 'id' })
  const mayAttempt = sql`coalesce(${webhooks.nextAttemptAt}, '-infinity') <= ${databaseTime}`
  const isUnchanged = (lease: WebhookLease, { failures, url }: AsRead) =>
    and(leases.isOurs(lease), eq(webhooks.failures, failures), eq(webhooks.url, url))

  return {
    /** Takes a webhook that has something to send now. Undefined if there is none. */
    take({ without, leaseMs }: { without: string[]; leaseMs: number }): Promise<WebhookLease | undefined> {
      return leases.take({
        where: and(
          webhooks.isActive,
          sql`${webhooks.id} <> all(${sql.param(without)}::uuid[])`,
          mayAttempt,
          sql`exists (select from ${webhookDeliveries} where ${webhookDeliveries.webhookId} = ${webhooks.id} and ${isWaiting})`,
        ),
        orderBy: [asc(webhooks.leaseUntil)],
        leaseMs,
      })
    },

    renew: leases.renew,
    release: leases.release,

    /** The webhook, if it is still leased, active, and may send now. */
    async findDue(lease: WebhookLease): Promise<WebhookRow | undefined> {
      const [row] = await db
        .select()
        .from(webhooks)
        .where(and(leases.isOurs(lease), webhooks.isActive, mayAttempt))
      return row
    },

    /** What is to be sent next, in its order: after a position, if it is given. */
    async listWaiting(
      { id: webhookId, projectId }: Pick<WebhookRow, 'id' | 'projectId'>,
      { after, limit }: { after: number | undefined; limit: number },
    ): Promise<WaitingDelivery[]> {
      const { id, position } = webhookDeliveries
      const isInProject = projectId === null ? sql`true` : sql`project_id = ${projectId}`
      const task = sql<string | null>`(select ${taskJson({ isSummary: true })} from ${tasks}
        where id = ${activity.taskId} and deleted_at is null and ${isInProject})`
      const rows = await db
        .select({ id, position: sql<number>`${position}::float8`, activity: activityColumns, task })
        .from(webhookDeliveries)
        .innerJoin(activity, eq(activity.id, webhookDeliveries.activityId))
        .where(
          and(
            eq(webhookDeliveries.webhookId, webhookId),
            isWaiting,
            after === undefined ? undefined : gt(position, after),
          ),
        )
        .orderBy(asc(position))
        .limit(limit)
      return rows
    },

    /**
     * Stores what attempts ended with, also those of several webhooks. Each webhook is locked before its deliveries, as
     * everywhere; one that is being deleted is omitted. Returns the ids of the others. A failure is also omitted if
     * another instance has delivered since.
     */
    async record(attempts: Attempt[]): Promise<Set<string>> {
      const webhookIds = [...new Set(attempts.map(({ webhookId }) => webhookId))]
      const { rows } = await db.execute<{ id: string }>(sql`
        with kept as materialized (
          select id from ${webhooks} where id = any(${sql.param(webhookIds)}::uuid[]) for key share skip locked
        ), stored as (
          update ${webhookDeliveries} as d set outcome = a.outcome, attempts = d.attempts + 1,
            last_attempt_at = ${databaseTime},
            finished_at = case when a.outcome = 'delivered' then ${databaseTime} end,
            duration_ms = a."durationMs", response_status = a."responseStatus", response_body = a."responseBody",
            error = a.error
          from kept join json_to_recordset(${JSON.stringify(attempts)}::json) as a("webhookId" uuid, id uuid,
            outcome text, "durationMs" integer, "responseStatus" integer, "responseBody" text, error text)
            on a."webhookId" = kept.id
          where d.webhook_id = kept.id and d.id = a.id and (d.outcome <> 'delivered' or a.outcome = 'delivered')
        )
        select id from kept`)
      return new Set(rows.map(({ id }) => id))
    },

    /** Ends deliveries whose activity no longer exists, such as after a restore by hand: there is nothing to send. */
    async failWithoutActivity({ id }: WebhookLease): Promise<void> {
      const isGone = sql`not exists (select from ${activity} where id = ${webhookDeliveries.activityId})`
      await db
        .update(webhookDeliveries)
        .set({
          outcome: 'failed',
          position: null,
          finishedAt: databaseTime,
          error: 'The activity log no longer has this change.',
        })
        .where(and(eq(webhookDeliveries.webhookId, id), isWaiting, isGone))
    },

    /** Notes a success after failures. Without effect if others have changed the webhook since it was read. */
    async noteSuccess(lease: WebhookLease, webhook: AsRead): Promise<void> {
      await db.update(webhooks).set(NO_FAILURES).where(isUnchanged(lease, webhook))
    },

    /** Waits after a failure, as `noteSuccess`. Several at the same time count once. */
    async noteFailure(
      lease: WebhookLease,
      { webhook, delayMs }: { webhook: AsRead; delayMs: number },
    ): Promise<void> {
      await db
        .update(webhooks)
        .set({ failures: webhook.failures + 1, nextAttemptAt: inMs(delayMs) })
        .where(isUnchanged(lease, webhook))
    },

    /** Waits until the scheduled attempt after a retry by hand has failed, as `noteSuccess`. */
    async noteFailedRetry(
      lease: WebhookLease,
      { webhook, delayMs }: { webhook: AsRead; delayMs: number },
    ): Promise<void> {
      await db
        .update(webhooks)
        .set({
          nextAttemptAt: sql`greatest(${webhooks.scheduledAttemptAt}, ${inMs(delayMs)})`,
          scheduledAttemptAt: null,
        })
        .where(isUnchanged(lease, webhook))
    },

    /**
     * Switches a webhook off: it gets deliveries of the changes up to a position. Returns false if somebody did, or has
     * changed it since it was read.
     */
    async switchOff(
      lease: WebhookLease,
      { webhook, reason, position }: { webhook: AsRead; reason: 'failed' | 'gone'; position: number },
    ): Promise<boolean> {
      const pause = JSON.stringify([[position, null]])
      const { rowCount } = await db
        .update(webhooks)
        .set({
          isActive: false,
          disabledReason: reason,
          pauses: sql`${webhooks.pauses} || ${pause}::jsonb`,
          nextAttemptAt: null,
          scheduledAttemptAt: null,
        })
        .where(and(isUnchanged(lease, webhook), webhooks.isActive))
      return rowCount === 1
    },
  }
}
