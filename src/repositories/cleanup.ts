import { sql } from '../db/drizzle.ts'
import { purgedItems } from '../db/tables/codehost.ts'
import { codehostWriteLimits } from '../db/tables/codehost-writes.ts'
import { deliveries, sourceBacklog } from '../db/tables/deliveries.ts'
import { notifications } from '../db/tables/notifications.ts'
import { closedWeeks, feedbackWeeks, openedWeeks, reportWeeks } from '../db/tables/overview.ts'
import { projects } from '../db/tables/projects.ts'
import { rules } from '../db/tables/rules.ts'
import { sourceItems } from '../db/tables/sources.ts'
import { taskNames } from '../db/tables/task-names.ts'
import { tasks } from '../db/tables/tasks.ts'
import { webhookDeliveries } from '../db/tables/webhooks.ts'
import type { FieldError } from '../errors/index.ts'
import { databaseTime } from './codehost/database-time.ts'
import { withFewComments } from './few-comments.ts'
import type { Executor } from './index.ts'

/** Deletes what is past its retention. Concurrent cleanups share the work. */
export function cleanupRepository(db: Executor) {
  return {
    /**
     * Removes at most `limit` tasks deleted before this time, with their comments, and keeps their code-host numbers,
     * in one statement. Skips projects that are being deleted. Returns how many it removed.
     */
    async purgeDeletedTasks(before: Date, limit: number): Promise<number> {
      const result = await db.execute(sql`
        with due as (${withFewComments(sql`
          select ${tasks.id}, ${tasks.commentCount} from ${tasks}
          join ${projects} on ${projects.id} = ${tasks.projectId}
          where ${tasks.deletedAt} < ${before.toISOString()}::timestamptz
          order by ${tasks.deletedAt} limit ${limit}
          for key share of ${projects} skip locked for update of ${tasks} skip locked`)}
        ), removed as (
          delete from ${tasks} where id in (select id from due)
          returning project_id, codehost_repository_id, codehost_number
        ), remembered as (
          insert into ${purgedItems} (project_id, codehost_repository_id, codehost_number)
          select project_id, codehost_repository_id, codehost_number from removed where codehost_number is not null
          on conflict do nothing
        )
        select from removed`)
      return result.rowCount ?? 0
    },

    /** Removes at most `limit` rules deleted before this time, with their versions. Returns how many it removed. */
    async purgeDeletedRules(before: Date, limit: number): Promise<number> {
      const result = await db.execute(sql`
        delete from ${rules} where id in (
          select id from ${rules} where deleted_at < ${before.toISOString()}::timestamptz
          order by deleted_at limit ${limit} for update skip locked)`)
      return result.rowCount ?? 0
    },

    /** Removes at most `limit` counts of weeks that are zero. Skips locked ones. Returns how many it removed. */
    async deleteEmptyWeeks(limit: number): Promise<number> {
      let removed = 0
      for (const weeks of [openedWeeks, closedWeeks, feedbackWeeks, reportWeeks]) {
        const result = await db.execute(sql`
          delete from ${weeks} where ctid = any(array(
            select ctid from ${weeks} where count = 0 limit ${limit} for update skip locked))`)
        removed = Math.max(removed, result.rowCount ?? 0)
      }
      return removed
    },

    /** Removes at most `limit` unused names. Skips locked ones. Returns how many it removed. */
    async deleteUnusedNames(limit: number): Promise<number> {
      const result = await db.execute(sql`
        delete from ${taskNames} where (kind, project_id, key) in (
          select kind, project_id, key from ${taskNames} where task_count = 0 limit ${limit}
          for update skip locked)`)
      return result.rowCount ?? 0
    },

    /** Removes the counts of at most `limit` tokens that wrote nothing in the last hour. Returns how many it removed. */
    async deleteUnusedWriteLimits(limit: number): Promise<number> {
      const result = await db.execute(sql`
        delete from ${codehostWriteLimits} where token_key in (
          select token_key from ${codehostWriteLimits}
          where coalesce(greatest(lease_until, paused_until), '-infinity') <= ${databaseTime}
            and not exists (select from unnest(sent) as at where at > ${databaseTime} - interval '1 hour')
          limit ${limit} for update skip locked)`)
      return result.rowCount ?? 0
    },

    /** Removes at most `limit` payloads of deliveries with lower ids. Returns how many it removed. */
    async dropPayloads(beforeId: string, limit: number): Promise<number> {
      const isPast = sql`payload is not null and id < ${beforeId} and outcome <> 'pending'`
      const result = await db.execute(sql`
        update ${deliveries} set payload = null where id in (
          select id from ${deliveries} where ${isPast} order by id limit ${limit} for update skip locked)
        and ${isPast}`)
      return result.rowCount ?? 0
    },

    /** The same for ignored and filtered deliveries, which are removed entirely. */
    async deleteIgnoredDeliveries(beforeId: string, limit: number): Promise<number> {
      const isPast = sql`outcome in ('ignored', 'filtered') and id < ${beforeId}`
      const result = await db.execute(sql`
        delete from ${deliveries} where id in (
          select id from ${deliveries} where ${isPast} order by id limit ${limit} for update skip locked)
        and ${isPast}`)
      return result.rowCount ?? 0
    },

    /** The same for pending deliveries of sources, which end as rejected with these errors. */
    async rejectPendingDeliveries(
      { beforeId, errors }: { beforeId: string; errors: FieldError[] },
      limit: number,
    ): Promise<number> {
      const result = await db.execute(sql`
        with ended as (
          delete from ${sourceBacklog} where delivery_id in (
            select delivery_id from ${sourceBacklog} where delivery_id < ${beforeId}
            order by delivery_id limit ${limit} for update skip locked) returning delivery_id
        )
        update ${deliveries} set outcome = 'rejected', dedup_key = null, errors = ${JSON.stringify(errors)}::jsonb
        from ended where id = ended.delivery_id`)
      return result.rowCount ?? 0
    },

    /** Removes at most `limit` items without an external ID that arrived before. Returns how many it removed. */
    async deleteSourceItems(before: Date, limit: number): Promise<number> {
      const isPast = sql`key like 'item:%' and received_at < ${before.toISOString()}::timestamptz`
      const result = await db.execute(sql`
        delete from ${sourceItems} where (source_id, key) in (
          select source_id, key from ${sourceItems} where ${isPast}
          order by received_at limit ${limit} for update skip locked) and ${isPast}`)
      return result.rowCount ?? 0
    },

    /** Removes at most `limit` notifications that were read before. Returns how many it removed. */
    async deleteReadNotifications(before: Date, limit: number): Promise<number> {
      const isPast = sql`read_at < ${before.toISOString()}::timestamptz`
      const result = await db.execute(sql`
        delete from ${notifications} where id in (
          select id from ${notifications} where ${isPast}
          order by read_at limit ${limit} for update skip locked) and ${isPast}`)
      return result.rowCount ?? 0
    },

    /** Removes at most `limit` deliveries to outgoing webhooks that were finished before. Returns how many it removed. */
    async deleteFinishedDeliveries(before: Date, limit: number): Promise<number> {
      const isFinished = sql`finished_at < ${before.toISOString()}::timestamptz`
      const result = await db.execute(sql`
        delete from ${webhookDeliveries} where (webhook_id, id) in (
          select webhook_id, id from ${webhookDeliveries} where ${isFinished}
          order by finished_at limit ${limit} for update skip locked) and ${isFinished}`)
      return result.rowCount ?? 0
    },
  }
}
