import { sql } from '../db/drizzle.ts'
import { purgedItems } from '../db/tables/codehost.ts'
import { feedbackEvents } from '../db/tables/feedback.ts'
import { projects } from '../db/tables/projects.ts'
import { rules } from '../db/tables/rules.ts'
import { taskNames } from '../db/tables/task-names.ts'
import { tasks } from '../db/tables/tasks.ts'
import type { Executor } from './index.ts'

/** What is taken away once its time is over; two instances that sweep at once share the work. */
export function cleanupRepository(db: Executor) {
  return {
    /**
     * Removes tasks that were hidden before then, at most so many, and leaves the code host's numbers behind, in one
     * statement. Those of a project that is being deleted go with it. Answers how many went.
     */
    async purgeDeletedTasks(before: Date, limit: number): Promise<number> {
      const result = await db.execute(sql`
        with due as (
          select ${tasks.id} from ${tasks} join ${projects} on ${projects.id} = ${tasks.projectId}
          where ${tasks.deletedAt} < ${before.toISOString()}::timestamptz
          order by ${tasks.deletedAt} limit ${limit}
          for key share of ${projects} skip locked for update of ${tasks} skip locked
        ), gone as (
          delete from ${tasks} where id in (select id from due)
          returning project_id, codehost_repository_id, codehost_number
        ), remembered as (
          insert into ${purgedItems} (project_id, codehost_repository_id, codehost_number)
          select project_id, codehost_repository_id, codehost_number from gone where codehost_number is not null
          on conflict do nothing
        )
        select from gone`)
      return result.rowCount ?? 0
    },

    /** Removes rules that were hidden before then, at most so many, each with its versions. Answers how many went. */
    async purgeDeletedRules(before: Date, limit: number): Promise<number> {
      const result = await db.execute(sql`
        delete from ${rules} where id in (
          select id from ${rules} where deleted_at < ${before.toISOString()}::timestamptz
          order by deleted_at limit ${limit} for update skip locked)`)
      return result.rowCount ?? 0
    },

    /** Removes names that no task has any more, at most so many. Those at work are left: nobody waits. */
    async deleteUnusedNames(limit: number): Promise<number> {
      const result = await db.execute(sql`
        delete from ${taskNames} where (kind, project_id, key) in (
          select kind, project_id, key from ${taskNames} where task_count = 0 limit ${limit}
          for update skip locked)`)
      return result.rowCount ?? 0
    },

    /** Empties the inbox of payloads of events with ids below this one, at most so many. Answers how many went. */
    async dropFeedbackPayloads(beforeId: string, limit: number): Promise<number> {
      const result = await db.execute(sql`
        update ${feedbackEvents} set payload = null where id in (
          select id from ${feedbackEvents} where payload is not null and id < ${beforeId}
          order by id limit ${limit} for update skip locked)`)
      return result.rowCount ?? 0
    },

    /** The same for what is left of events of other names: all of it. */
    async deleteIgnoredFeedback(beforeId: string, limit: number): Promise<number> {
      const result = await db.execute(sql`
        delete from ${feedbackEvents} where id in (
          select id from ${feedbackEvents} where outcome = 'ignored' and id < ${beforeId}
          order by id limit ${limit} for update skip locked)`)
      return result.rowCount ?? 0
    },
  }
}
