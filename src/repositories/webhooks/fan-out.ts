import { and, asc, eq, getTableColumns, gt, inArray, lt, lte, or, sql } from '../../db/drizzle.ts'
import { activity } from '../../db/tables/activity.ts'
import { changes } from '../../db/tables/changes.ts'
import { webhookDeliveries, webhooks } from '../../db/tables/webhooks.ts'
import type { ActivityRow } from '../activity.ts'
import { databaseTime } from '../codehost/database-time.ts'
import type { Executor } from '../index.ts'
import type { WebhookDeliveryRow } from './deliveries.ts'
import { isWaiting } from './queue.ts'
import type { WebhookRow } from './webhooks.ts'

/** A change, as far as webhooks are chosen by it. */
export interface PositionedChange extends Pick<ActivityRow, 'id' | 'type' | 'taskId' | 'projectId'> {
  position: number
}

interface ChangeRange {
  after: number
  to: number
  limit: number
}

/** A sender that reads pages of 100 has enough for a second. */
const BACKLOG = 2_000

/** One instance at a time writes deliveries. */
const FAN_OUT_LOCK = 0x0077_6562

/** Of a webhook that is switched off. */
const isBehindItsPause = sql`not ${webhooks.isActive} and ${webhooks.position} < (${webhooks.pauses} -> -1 ->> 0)::bigint`

/** Writes the deliveries of changes to the queue of webhooks. */
export function webhookFanOutRepository(db: Executor) {
  return {
    /** Whether there is a webhook that is active, or lacks deliveries of the time before it was switched off. */
    async isNeeded(): Promise<boolean> {
      const rows = await db
        .select({ id: webhooks.id })
        .from(webhooks)
        .where(or(webhooks.isActive, isBehindItsPause))
        .limit(1)
      return rows.length > 0
    },

    /** Whether this transaction may write deliveries: until it ends, no other does. */
    async lock(): Promise<boolean> {
      const { rows } = await db.execute<{ is: boolean }>(
        sql`select pg_try_advisory_xact_lock(${FAN_OUT_LOCK}) as is`,
      )
      return rows[0]?.is === true
    },

    /**
     * Webhooks that have no deliveries up to a position, or up to where they were switched off, and whether so many
     * deliveries wait that no more are needed soon. Locks them; skips those that are being changed.
     */
    async listBehind(position: number): Promise<(WebhookRow & { isBacklogged: boolean })[]> {
      return db
        .select({
          ...getTableColumns(webhooks),
          isBacklogged: sql<boolean>`exists (select from ${webhookDeliveries}
            where webhook_id = webhooks.id and ${isWaiting} offset ${BACKLOG})`,
        })
        .from(webhooks)
        .where(or(and(webhooks.isActive, lt(webhooks.position, position)), isBehindItsPause))
        .orderBy(asc(webhooks.id))
        .for('no key update', { skipLocked: true })
    },

    /** The changes after a position, up to another, in their order. */
    async listChanges({ after, to, limit }: ChangeRange): Promise<PositionedChange[]> {
      const { id, type, taskId, projectId } = activity
      return db
        .select({ position: changes.position, id, type, taskId, projectId })
        .from(changes)
        .innerJoin(activity, eq(activity.id, changes.activityId))
        .where(and(gt(changes.position, after), lte(changes.position, to)))
        .orderBy(asc(changes.position))
        .limit(limit)
    },

    /** Inserts deliveries, and notes that these webhooks have theirs up to this position. */
    async insert(
      rows: Pick<WebhookDeliveryRow, 'id' | 'webhookId' | 'position' | 'type' | 'activityId' | 'taskId'>[],
      { webhookIds, position }: { webhookIds: string[]; position: number },
    ): Promise<void> {
      if (rows.length > 0) {
        await db.execute(sql`
          insert into ${webhookDeliveries}
            (webhook_id, id, position, type, activity_id, task_id, outcome, attempts, created_at)
          select "webhookId", id, position, type, "activityId", "taskId", 'pending', 0, ${databaseTime}
          from json_to_recordset(${JSON.stringify(rows)}::json)
            as d("webhookId" uuid, id uuid, position bigint, type text, "activityId" uuid, "taskId" uuid)`)
      }
      // Some may have been further than the others.
      await db
        .update(webhooks)
        .set({ position: sql`greatest(${webhooks.position}, ${position})` })
        .where(inArray(webhooks.id, webhookIds))
    },
  }
}
