import { isDatabaseAway, withoutValues } from '../../db/database-error.ts'
import { and, desc, eq, inArray, lt, sql } from '../../db/drizzle.ts'
import { named } from '../../db/named.ts'
import { recordset } from '../../db/recordset.ts'
import { feedbackEvents, feedbackUnreadable } from '../../db/tables/feedback.ts'
import { AppError, unavailable } from '../../errors/index.ts'
import type { ActivityRow } from '../activity.ts'
import type { Executor } from '../index.ts'
import {
  insertingTasks,
  lockingProjects,
  namingViolations,
  type TaskRow,
  tasksAndActivity,
} from '../tasks.ts'

export type FeedbackRow = typeof feedbackEvents.$inferSelect
/** What a repeat is answered from. */
export type DeliveredRow = Pick<
  FeedbackRow,
  'id' | 'dedupKey' | 'taskId' | 'projectId' | 'listId' | 'routing'
>

/** Events that are to become tasks: their entries in the inbox, the tasks, and what the record says of them. */
export interface Acceptance {
  rows: FeedbackRow[]
  tasks: TaskRow[]
  activities: ActivityRow[]
}

interface FeedbackPageRequest {
  outcome: FeedbackRow['outcome'] | undefined
  /** The id at the end of the previous page. */
  before: string | undefined
  limit: number
}

const eventSet = recordset(feedbackEvents)

const insertEvents = named<object>(
  'insert feedback events',
  sql`insert into ${feedbackEvents} (${eventSet.names}) ${eventSet.select('rows')} on conflict do nothing`,
)

const acceptEvents = named<{ isOpen: boolean; made: string[] }>(
  'accept feedback events',
  sql`
    with ${lockingProjects}, fresh as (
      insert into ${feedbackEvents} (${eventSet.names})
      ${eventSet.select('rows', sql`(select is_open from place)`)}
      on conflict do nothing returning id, task_id
    ), ${insertingTasks(sql`id in (select task_id from fresh)`)}
    select is_open as "isOpen", array(select id from fresh) as made from place`,
)

/** The inbox of the feedback receiver. It is the whole service's: there is no reach. */
export function feedbackRepository(db: Executor) {
  const delivered = {
    id: feedbackEvents.id,
    dedupKey: feedbackEvents.dedupKey,
    taskId: feedbackEvents.taskId,
    projectId: feedbackEvents.projectId,
    listId: feedbackEvents.listId,
    routing: feedbackEvents.routing,
  }

  return {
    /**
     * Does work whose errors must not repeat its parameters: there are addresses of people in them, and errors go to
     * the log whole.
     */
    async redacted<T>(work: () => Promise<T>): Promise<T> {
      try {
        return await work()
      } catch (error) {
        if (error instanceof AppError) throw error
        throw isDatabaseAway(error) ? unavailable(withoutValues(error)) : withoutValues(error)
      }
    },

    /** Puts in an entry that gets no task of its own; nothing where it is here already. */
    async insert(row: FeedbackRow): Promise<void> {
      await insertEvents(db, { rows: JSON.stringify([row]) })
    },

    /**
     * Makes the entries, the tasks and the record of events in one statement. Answers the ids of the entries that were
     * made; the others were here already, by what makes an event itself. Undefined, and nothing is made, where a project
     * they go to was archived or deleted meanwhile; none is archived while this is at work.
     */
    async accept({ rows, tasks, activities }: Acceptance): Promise<Set<string> | undefined> {
      // In one order everywhere: two batches that share events wait for each other instead of deadlocking.
      const inLockOrder = rows.toSorted((a, b) => ((a.dedupKey ?? '') < (b.dedupKey ?? '') ? -1 : 1))
      const { rows: result } = await acceptEvents(db, {
        rows: JSON.stringify(inLockOrder),
        ...tasksAndActivity(tasks, activities),
      }).catch(namingViolations())
      return result[0]?.isOpen ? new Set(result[0].made) : undefined
    },

    async find(id: string): Promise<FeedbackRow | undefined> {
      const [row] = await db.select().from(feedbackEvents).where(eq(feedbackEvents.id, id))
      return row
    },

    async findForUpdate(id: string): Promise<FeedbackRow | undefined> {
      const [row] = await db.select().from(feedbackEvents).where(eq(feedbackEvents.id, id)).for('update')
      return row
    },

    /** Newest first. */
    async list({ outcome, before, limit }: FeedbackPageRequest): Promise<FeedbackRow[]> {
      return db
        .select()
        .from(feedbackEvents)
        .where(
          and(
            outcome ? eq(feedbackEvents.outcome, outcome) : undefined,
            before ? lt(feedbackEvents.id, before) : undefined,
          ),
        )
        .orderBy(desc(feedbackEvents.id))
        .limit(limit)
    },

    async listByKeys(keys: string[]): Promise<DeliveredRow[]> {
      return db.select(delivered).from(feedbackEvents).where(inArray(feedbackEvents.dedupKey, keys))
    },

    /**
     * Counts how often each of these events came again; answers what they were answered with at first. An entry with one
     * of these ids was made by the delivery itself, in a try that was not heard of: that was no repeat.
     */
    async countRepeats(repeats: Map<string, number>, ids: string[]): Promise<DeliveredRow[]> {
      // Locked in one order everywhere, and before the first is written.
      const locked = sql`array(
        select id from ${feedbackEvents} where dedup_key = any(${sql.param([...repeats.keys()])}::text[])
        order by dedup_key for no key update)`
      const counts = sql`${JSON.stringify(Object.fromEntries(repeats))}::jsonb`
      return db
        .update(feedbackEvents)
        .set({
          duplicates: sql`${feedbackEvents.duplicates} + (${counts} ->> ${feedbackEvents.dedupKey})::integer
            - (${feedbackEvents.id} = any(${sql.param(ids)}::uuid[]))::integer`,
        })
        .where(sql`${feedbackEvents.id} = any(${locked})`)
        .returning(delivered)
    },

    async update(id: string, change: Partial<FeedbackRow>): Promise<void> {
      await db.update(feedbackEvents).set(change).where(eq(feedbackEvents.id, id))
    },

    async delete(id: string): Promise<void> {
      await db.delete(feedbackEvents).where(eq(feedbackEvents.id, id))
    },

    /** One more delivery of that day that was not JSON. */
    async countUnreadable(day: string): Promise<void> {
      await db
        .insert(feedbackUnreadable)
        .values({ day, count: 1 })
        .onConflictDoUpdate({
          target: feedbackUnreadable.day,
          set: { count: sql`${feedbackUnreadable.count} + 1` },
        })
    },
  }
}
