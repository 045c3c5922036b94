import { and, desc, eq, inArray, lt, sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { recordset } from '../../db/recordset.ts'
import { feedbackEvents, feedbackUnreadable } from '../../db/tables/feedback.ts'
import type { ActivityRow } from '../activity.ts'
import type { Executor } from '../index.ts'
import { lockingProjects } from '../locking-projects.ts'
import { namingViolations } from '../task-violations.ts'
import { insertingTasks, type TaskRow, tasksAndActivity } from '../tasks.ts'

export type FeedbackRow = typeof feedbackEvents.$inferSelect
/** The columns for the response to a repeat. */
export type DeliveredRow = Pick<
  FeedbackRow,
  'id' | 'dedupKey' | 'taskId' | 'projectId' | 'listId' | 'routing'
>

/** Accepted events: their inbox rows, tasks and activity. */
export interface Acceptance {
  rows: FeedbackRow[]
  tasks: TaskRow[]
  activities: ActivityRow[]
}

interface FeedbackPageRequest {
  outcome: FeedbackRow['outcome'] | undefined
  sourceId: string | undefined
  /** The id at the end of the previous page. */
  before: string | undefined
  limit: number
}

const eventSet = recordset(feedbackEvents)

const insertEvents = preparedStatement<object>(
  'insert feedback events',
  sql`insert into ${feedbackEvents} (${eventSet.names}) ${eventSet.select('rows')} on conflict do nothing`,
)

const acceptEvents = preparedStatement<{ isOpen: boolean; made: string[] }>(
  'accept feedback events',
  sql`
    with ${lockingProjects}, place as (
      select count(*) = cardinality(${sql.placeholder('projectIds')}::uuid[]) as is_open from open
    ), fresh as (
      insert into ${feedbackEvents} (${eventSet.names})
      ${eventSet.select('rows', sql`(select is_open from place)`)}
      on conflict do nothing returning id, task_id
    ), ${insertingTasks(sql`id in (select task_id from fresh)`)}
    select is_open as "isOpen", array(select id from fresh) as made from place`,
)

/** The inbox of the feedback receiver. It belongs to the whole service, so it has no reach. */
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
    /** Inserts an event without a task, unless it exists. */
    async insert(row: FeedbackRow): Promise<void> {
      await insertEvents(db, { rows: JSON.stringify([row]) })
    },

    /**
     * Inserts the inbox rows, tasks and activity of events in one statement. Returns the ids of inserted inbox rows; the
     * other events exist already, by their deduplication key. Returns undefined, and inserts nothing, if one of the
     * projects was archived or deleted meanwhile.
     */
    async accept({ rows, tasks, activities }: Acceptance): Promise<Set<string> | undefined> {
      // The same order everywhere: batches that share events wait for each other instead of deadlocking.
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
    async list({ outcome, sourceId, before, limit }: FeedbackPageRequest): Promise<FeedbackRow[]> {
      return db
        .select()
        .from(feedbackEvents)
        .where(
          and(
            outcome ? eq(feedbackEvents.outcome, outcome) : undefined,
            sourceId ? eq(feedbackEvents.sourceId, sourceId) : undefined,
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
     * Counts repeats of events; returns their first deliveries. A row with one of these ids was inserted by the delivery
     * itself, in an attempt whose result was lost: it is not counted as a repeat.
     */
    async countRepeats(repeats: Map<string, number>, ids: string[]): Promise<DeliveredRow[]> {
      // Locked in the same order everywhere, before the first is written.
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

    /** Counts a delivery that was not JSON. */
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
