import { violates } from '../../db/database-error.ts'
import { and, desc, eq, getTableColumns, inArray, isNull, sql } from '../../db/drizzle.ts'
import { preparedStatement } from '../../db/prepared-statement.ts'
import { recordset } from '../../db/recordset.ts'
import { deliveries } from '../../db/tables/deliveries.ts'
import { tasks } from '../../db/tables/tasks.ts'
import type { FeedbackWords } from '../../domain/feedback/summary.ts'
import { databaseTime } from '../codehost/database-time.ts'
import type { Executor } from '../index.ts'
import { isReached, type Reach } from '../reach.ts'
import { feedbackWords } from './feedback-words.ts'

/** A delivery. When one of the code host is due is up to the clock of the database. */
export type DeliveryRow = Omit<typeof deliveries.$inferSelect, 'nextAttemptAt'>
/** A delivery that templates read. */
export type SourceDeliveryRow = DeliveryRow & { sourceId: string }
export type Receiver = DeliveryRow['receiver']
type DeliveryOutcome = DeliveryRow['outcome']
/** A delivery without its payload. */
export type ListedDelivery = Omit<DeliveryRow, 'payload' | 'payloadCut'>
/** With what is known of the payload, and the title of its first task as it is now. */
export type ShownDelivery = ListedDelivery & {
  hasPayload: boolean
  words: FeedbackWords | null
  taskTitle: string | null
}

/** Whether to read what feedback says. */
interface ShownOptions {
  hasWords: boolean
}

interface DeliveryPage extends ShownOptions {
  receivers: readonly Receiver[]
  outcomes: readonly DeliveryOutcome[]
  sourceId: string | undefined
  projectId: string | undefined
  senderId: string | undefined
  /** The lowest id. */
  fromId: string | undefined
  /** The id at the end of the previous page. */
  before: string | undefined
  limit: number
}

const { nextAttemptAt: _, ...columns } = getTableColumns(deliveries)
const { payload: _payload, payloadCut: _payloadCut, ...listed } = columns

const FIRST_TASK = sql`(${deliveries.tasks} -> 0 ->> 'taskId')::uuid`

/** As the index has it. */
const SENDER_IN_PROJECT = sql`(sender_id || ' ' || project_id::text)`

/** Deliveries as one JSON parameter. */
export const deliverySet = recordset(deliveries, { leaveToDatabase: ['nextAttemptAt'] })

const insertDeliveries = preparedStatement<{ id: string }>(
  'insert deliveries',
  sql`
    insert into ${deliveries} (${deliverySet.names}, "next_attempt_at")
    select given.*, case when receiver = 'codehost' and outcome = 'pending' then ${databaseTime} end
    from (${deliverySet.select('rows')}) as given
    on conflict do nothing returning id`,
)

/** A delivery with nothing but what is given. */
export const newDelivery = <
  Given extends Pick<DeliveryRow, 'id' | 'receiver' | 'outcome' | 'receivedAt'> & Partial<DeliveryRow>,
>(
  given: Given,
): DeliveryRow & Given => ({
  sourceId: null,
  connectionId: null,
  projectId: null,
  listId: null,
  dedupKey: null,
  senderId: null,
  event: null,
  action: null,
  number: null,
  commentId: null,
  reason: null,
  duplicates: 0,
  attempts: 0,
  tasks: [],
  routing: null,
  errors: null,
  payload: null,
  payloadCut: false,
  ...given,
})

/** What arrived at the receivers. Only `list`, and `find` are limited to a reach: the others are for the receivers. */
export function deliveriesRepository(db: Executor, reach: Reach) {
  const inReach = isReached(deliveries.projectId, reach)

  const shownColumns = ({ hasWords }: ShownOptions) => ({
    ...listed,
    hasPayload: sql<boolean>`${deliveries.payload} is not null`,
    words: hasWords ? feedbackWords : sql<null>`null`,
    taskTitle: sql<string | null>`(${firstTaskTitle()})`,
  })

  const firstTaskTitle = () =>
    db
      .select({ title: tasks.title })
      .from(tasks)
      .where(and(eq(tasks.id, FIRST_TASK), isNull(tasks.deletedAt), isReached(tasks.projectId, reach)))

  return {
    /** Inserts deliveries; returns the ids of the inserted ones. The others exist already, by their deduplication key. */
    async insert(rows: DeliveryRow[]): Promise<Set<string>> {
      if (rows.length === 0) return new Set()
      const { rows: inserted } = await insertDeliveries(db, { rows: JSON.stringify(inLockOrder(rows)) })
      return new Set(inserted.map(({ id }) => id))
    },

    async find(id: string): Promise<DeliveryRow | undefined> {
      const [row] = await db
        .select(columns)
        .from(deliveries)
        .where(and(eq(deliveries.id, id), inReach))
      return row
    },

    /** To show it. */
    async findShown(id: string, options: ShownOptions): Promise<(DeliveryRow & ShownDelivery) | undefined> {
      const [row] = await db
        .select({ ...columns, ...shownColumns(options) })
        .from(deliveries)
        .where(and(eq(deliveries.id, id), inReach))
      return row
    },

    async findForUpdate(id: string): Promise<DeliveryRow | undefined> {
      const [row] = await db
        .select(columns)
        .from(deliveries)
        .where(and(eq(deliveries.id, id), inReach))
        .for('update')
      return row
    },

    /** Newest first. Reads at most a page of each receiver, outcome, and project of the reach. */
    async list({ receivers, outcomes, ...page }: DeliveryPage): Promise<ShownDelivery[]> {
      const projectIds = page.projectId === undefined ? reach.projectIds : [page.projectId]
      const { sourceId, senderId } = page
      // A sender gives an ID to few: nothing else may choose the index, also without statistics.
      const equals = senderId === undefined ? sql`=` : sql`is not distinct from`
      const sender = projectIds ? SENDER_IN_PROJECT : sql`sender_id`
      const value = projectIds ? sql`${senderId}::text || ' ' || p.project_id::text` : sql`${senderId}`
      const part = sql`(${value}, r.receiver, o.outcome)`
      const isOfSender = sql`sender_id is not null ${projectIds ? sql`and project_id is not null` : sql``}
        and (${sender}, receiver, outcome) >= ${part} and (${sender}, receiver, outcome) <= ${part}`
      const condition = and(
        senderId === undefined ? sql`receiver = r.receiver and outcome = o.outcome` : isOfSender,
        senderId === undefined && projectIds ? sql`project_id = p.project_id` : undefined,
        page.projectId === undefined ? undefined : inReach,
        sourceId === undefined ? undefined : sql`source_id ${equals} ${sourceId}`,
        page.fromId === undefined ? undefined : sql`id >= ${page.fromId}`,
        page.before === undefined ? undefined : sql`id < ${page.before}`,
      )
      // By all columns of the index that has the deliveries in this order.
      const order = sql`receiver desc, outcome desc, id desc`
      let place = projectIds ? sql`project_id desc, ` : sql``
      if (sourceId !== undefined) place = sql`source_id desc, `
      if (senderId !== undefined) place = sql`${sender} desc, `
      return db
        .select(shownColumns(page))
        .from(deliveries)
        .where(
          sql`id in (
            select part.id from unnest(${sql.param(receivers)}::text[]) as r (receiver)
            cross join unnest(${sql.param(outcomes)}::text[]) as o (outcome)
            cross join unnest(${sql.param(projectIds ?? [null])}::uuid[]) as p (project_id)
            cross join lateral (
              select id from ${deliveries} where ${condition} order by ${place}${order} limit ${page.limit}
            ) as part order by part.id desc limit ${page.limit})`,
        )
        .orderBy(desc(deliveries.id))
    },

    /** Which of these exist. */
    async listPresent(ids: string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set()
      const rows = await db.select({ id: deliveries.id }).from(deliveries).where(inArray(deliveries.id, ids))
      return new Set(rows.map(({ id }) => id))
    },

    async listByKeys(keys: string[]): Promise<ListedDelivery[]> {
      return db.select(listed).from(deliveries).where(inArray(deliveries.dedupKey, keys))
    },

    /**
     * Counts repeats by their deduplication keys; returns and locks their first deliveries. A row with one of these ids was
     * inserted by the delivery itself, in an attempt whose result was lost: it is not counted as a repeat.
     */
    async countRepeats(repeats: Map<string, number>, ids: string[]): Promise<ListedDelivery[]> {
      // Locked in the same order everywhere, before the first is written.
      const locked = sql`array(
        select id from ${deliveries} where dedup_key = any(${sql.param([...repeats.keys()])}::text[])
        order by dedup_key for no key update)`
      const counts = sql`${JSON.stringify(Object.fromEntries(repeats))}::jsonb`
      return db
        .update(deliveries)
        .set({
          duplicates: sql`${deliveries.duplicates} + (${counts} ->> ${deliveries.dedupKey})::integer
            - (${deliveries.id} = any(${sql.param(ids)}::uuid[]))::integer`,
        })
        .where(sql`${deliveries.id} = any(${locked})`)
        .returning(listed)
    },

    /** Counts a repeat of a delivery, unless that is itself; returns and locks it. */
    async countRepeat(id: string, { exceptId }: { exceptId: string }): Promise<ListedDelivery | undefined> {
      const [row] = await db
        .update(deliveries)
        .set({ duplicates: sql`${deliveries.duplicates} + (${deliveries.id} <> ${exceptId}::uuid)::integer` })
        .where(eq(deliveries.id, id))
        .returning(listed)
      return row
    },

    /** @returns false, having changed nothing, if another delivery has the deduplication key by now. */
    async update(id: string, change: Partial<DeliveryRow>): Promise<boolean> {
      try {
        await db.update(deliveries).set(change).where(eq(deliveries.id, id))
        return true
      } catch (error) {
        if (violates(error, 'deliveries_dedup')) return false
        throw error
      }
    },

    /** Writes the tasks of deliveries, and the list that they are in. */
    async updateTasks(
      written: (Pick<DeliveryRow, 'id' | 'outcome' | 'tasks'> & { listId: string })[],
    ): Promise<void> {
      await db.execute(sql`
        update ${deliveries} set tasks = written.tasks, list_id = written."listId", outcome = written.outcome
        from json_to_recordset(${JSON.stringify(written)}::json)
          as written(id uuid, tasks jsonb, "listId" uuid, outcome text)
        where ${deliveries.id} = written.id`)
    },

    async delete(id: string): Promise<void> {
      await db.delete(deliveries).where(eq(deliveries.id, id))
    },
  }
}

/** The same order everywhere: batches that share deliveries wait for each other instead of deadlocking. */
export const inLockOrder = (rows: DeliveryRow[]): DeliveryRow[] =>
  rows.toSorted((a, b) => ((a.dedupKey ?? '') < (b.dedupKey ?? '') ? -1 : 1))
