import { violates } from '../../db/database-error.ts'
import { and, desc, eq, lt, or, sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { recordset } from '../../db/recordset.ts'
import { sourceEvents } from '../../db/tables/sources.ts'
import type { ActivityRow } from '../activity.ts'
import type { Executor } from '../index.ts'
import { redacted } from '../redacted.ts'
import { namingViolations } from '../task-violations.ts'
import { insertingTasks, type TaskRow, tasksAndActivity } from '../tasks.ts'

export type SourceEventRow = typeof sourceEvents.$inferSelect

const eventSet = recordset(sourceEvents)

const insertEvents = preparedStatement<{ id: string }>(
  'insert source events',
  sql`insert into ${sourceEvents} (${eventSet.names}) ${eventSet.select('rows')} on conflict do nothing returning id`,
)

const insertSourceTasks = preparedStatement<{ id: string }>(
  'insert tasks of sources',
  sql`with ${insertingTasks()} select id from made`,
)

/** The inbox of the sources: its callers know that the source is in their reach. */
export function sourceEventsRepository(db: Executor) {
  const isId = (sourceId: string, id: string) =>
    and(eq(sourceEvents.sourceId, sourceId), eq(sourceEvents.id, id))

  return {
    redacted,

    /** Inserts events; returns the ids of the inserted ones. The others exist already, by their deduplication key. */
    async insert(rows: SourceEventRow[]): Promise<Set<string>> {
      // The same order everywhere: batches that share events wait for each other instead of deadlocking.
      const inLockOrder = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const { rows: inserted } = await insertEvents(db, { rows: JSON.stringify(inLockOrder) })
      return new Set(inserted.map(({ id }) => id))
    },

    /** Lets these keys be used again, where they were last used before this time. */
    async releaseKeys(keys: { sourceId: string; dedupKey: string }[], before: Date): Promise<void> {
      const isKey = keys.map(({ sourceId, dedupKey }) =>
        and(eq(sourceEvents.sourceId, sourceId), eq(sourceEvents.dedupKey, dedupKey)),
      )
      await db
        .update(sourceEvents)
        .set({ dedupKey: null })
        .where(and(or(...isKey), lt(sourceEvents.receivedAt, before)))
    },

    /** Counts a repeat, unless the row found has this id; returns the first delivery. Locks it until the transaction ends. */
    async countRepeat(
      { sourceId, dedupKey }: { sourceId: string; dedupKey: string },
      { exceptId }: { exceptId: string },
    ): Promise<SourceEventRow | undefined> {
      const [row] = await db
        .update(sourceEvents)
        .set({
          duplicates: sql`${sourceEvents.duplicates} + (${sourceEvents.id} <> ${exceptId}::uuid)::integer`,
        })
        .where(and(eq(sourceEvents.sourceId, sourceId), eq(sourceEvents.dedupKey, dedupKey)))
        .returning()
      return row
    },

    /**
     * Inserts tasks with their activity; returns the ids of the inserted ones. The others exist already, by their
     * external id.
     */
    async insertTasks(rows: TaskRow[], activities: ActivityRow[]): Promise<Set<string>> {
      const { tasks, activities: logged } = tasksAndActivity(rows, activities)
      const { rows: made } = await insertSourceTasks(db, { tasks, activities: logged }).catch(
        namingViolations(),
      )
      return new Set(made.map(({ id }) => id))
    },

    /** Newest first. */
    async list(
      sourceId: string,
      page: { outcome: SourceEventRow['outcome'] | undefined; before: string | undefined; limit: number },
    ): Promise<SourceEventRow[]> {
      return db
        .select()
        .from(sourceEvents)
        .where(
          and(
            eq(sourceEvents.sourceId, sourceId),
            page.outcome ? eq(sourceEvents.outcome, page.outcome) : undefined,
            page.before ? lt(sourceEvents.id, page.before) : undefined,
          ),
        )
        .orderBy(desc(sourceEvents.id))
        .limit(page.limit)
    },

    async find(sourceId: string, id: string): Promise<SourceEventRow | undefined> {
      const [row] = await db.select().from(sourceEvents).where(isId(sourceId, id))
      return row
    },

    async findForUpdate(sourceId: string, id: string): Promise<SourceEventRow | undefined> {
      const [row] = await db.select().from(sourceEvents).where(isId(sourceId, id)).for('update')
      return row
    },

    /** The event that has a deduplication key. */
    async findByKey(sourceId: string, dedupKey: string): Promise<SourceEventRow | undefined> {
      const [row] = await db
        .select()
        .from(sourceEvents)
        .where(and(eq(sourceEvents.sourceId, sourceId), eq(sourceEvents.dedupKey, dedupKey)))
      return row
    },

    /** @returns false, having changed nothing, if another event has the deduplication key by now. */
    async update(id: string, change: Partial<SourceEventRow>): Promise<boolean> {
      try {
        await db.update(sourceEvents).set(change).where(eq(sourceEvents.id, id))
        return true
      } catch (error) {
        if (violates(error, 'source_events_dedup')) return false
        throw error
      }
    },

    /** Writes the tasks of events, and the list that they are in. */
    async updateTasks(events: { id: string; listId: string; tasks: unknown }[]): Promise<void> {
      await db.execute(sql`
        update ${sourceEvents} set tasks = written.tasks, list_id = written."listId"
        from json_to_recordset(${JSON.stringify(events)}::json) as written(id uuid, tasks jsonb, "listId" uuid)
        where ${sourceEvents.id} = written.id`)
    },
  }
}

const keyOf = ({ sourceId, dedupKey }: SourceEventRow) => `${sourceId} ${dedupKey ?? ''}`
