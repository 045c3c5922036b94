import { violates } from '../../db/database-error.ts'
import { and, desc, eq, inArray, lt, sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { recordset } from '../../db/recordset.ts'
import { sourceEvents } from '../../db/tables/sources.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { ActivityRow } from '../activity.ts'
import type { Executor } from '../index.ts'
import { namingViolations } from '../task-violations.ts'
import { insertingTasks, type TaskRow, tasksAndActivity } from '../tasks.ts'

export type SourceEventRow = typeof sourceEvents.$inferSelect

/** What a source calls a task. */
export type SourceExternalId = Pick<TaskRow, 'sourceId' | 'externalId'>
export type LockedSourceTask = Pick<TaskRow, 'id' | 'projectId' | 'sourceId' | 'externalId'>

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
    /** Inserts events; returns the ids of the inserted ones. The others exist already, by their deduplication key. */
    async insert(rows: SourceEventRow[]): Promise<Set<string>> {
      if (rows.length === 0) return new Set()
      // The same order everywhere: batches that share events wait for each other instead of deadlocking.
      const inLockOrder = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const { rows: inserted } = await insertEvents(db, { rows: JSON.stringify(inLockOrder) })
      return new Set(inserted.map(({ id }) => id))
    },

    /** Which of these events exist. */
    async listPresent(ids: string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set()
      const rows = await db
        .select({ id: sourceEvents.id })
        .from(sourceEvents)
        .where(inArray(sourceEvents.id, ids))
      return new Set(rows.map(({ id }) => id))
    },

    /** Counts a repeat, unless the row found has this id; returns the first delivery. Locks it until the transaction ends. */
    async countRepeat(
      { sourceId, ...of }: { sourceId: string } & ({ dedupKey: string } | { id: string }),
      { exceptId }: { exceptId: string },
    ): Promise<SourceEventRow | undefined> {
      const isFirst = 'id' in of ? eq(sourceEvents.id, of.id) : eq(sourceEvents.dedupKey, of.dedupKey)
      const [row] = await db
        .update(sourceEvents)
        .set({
          duplicates: sql`${sourceEvents.duplicates} + (${sourceEvents.id} <> ${exceptId}::uuid)::integer`,
        })
        .where(and(eq(sourceEvents.sourceId, sourceId), isFirst))
        .returning()
      return row
    },

    /**
     * Inserts tasks with their activity; returns the ids of the inserted ones. The others exist already, by their
     * external id.
     */
    async insertTasks(rows: TaskRow[], activities: ActivityRow[]): Promise<Set<string>> {
      if (rows.length === 0) return new Set()
      const values = tasksAndActivity(rows, activities)
      const { rows: made } = await insertSourceTasks(db, values).catch(namingViolations())
      return new Set(made.map(({ id }) => id))
    },

    /** The projects of the tasks that have these external IDs. */
    async listProjectsOf(items: SourceExternalId[]): Promise<string[]> {
      if (items.length === 0) return []
      const { rows } = await db.execute<{ projectId: string }>(sql`
        select distinct project_id as "projectId" from ${tasks} join ${named(items)} on ${isNamed}`)
      return rows.map(({ projectId }) => projectId)
    },

    /** Locks the tasks that have these external IDs, and those that they are merged into, in the same order everywhere. */
    async lockTasks(items: SourceExternalId[]): Promise<LockedSourceTask[]> {
      if (items.length === 0) return []
      const { rows } = await db.execute<LockedSourceTask>(sql`
        select id, project_id as "projectId", source_id as "sourceId", external_id as "externalId" from ${tasks}
        where id in (
          select unnest(array[id, merged_into]) from ${tasks} join ${named(items)} on ${isNamed}
        ) order by id for update`)
      return rows
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

const named = (items: SourceExternalId[]) => sql`
  unnest(${sql.param(items.map(({ sourceId }) => sourceId))}::uuid[],
    ${sql.param(items.map(({ externalId }) => externalId))}::text[]) as named (source, name)`
const isNamed = sql`external_id = named.name and source_id = named.source and deleted_at is null`

const keyOf = ({ sourceId, dedupKey }: SourceEventRow) => `${sourceId} ${dedupKey ?? ''}`
