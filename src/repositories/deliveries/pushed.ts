import { violates } from '../../db/database-error.ts'
import { and, desc, eq, inArray, isNull, lte, sql } from '../../db/drizzle.ts'
import { codehostConnections } from '../../db/tables/codehost.ts'
import { deliveries } from '../../db/tables/deliveries.ts'
import type { ConnectionRow } from '../codehost/connections.ts'
import { databaseNow, databaseTime, inMs } from '../codehost/database-time.ts'
import type { Executor } from '../index.ts'
import { everywhere } from '../reach.ts'
import { type DeliveryRow, deliveriesRepository } from './store.ts'

/** A delivery that is to be applied. */
export type PendingRow = Pick<DeliveryRow, 'id' | 'event' | 'payload'>

/** The outcome of a delivery. */
export interface Settlement {
  id: string
  outcome: 'accepted' | 'updated' | 'ignored' | 'failed'
  /** Why it was not applied, or changed nothing. */
  reason: string | null
  /** Created, if it is accepted. */
  taskId?: string | undefined
}

const CONNECTION_KEY = 'deliveries_connection_id_codehost_connections_id_fk'

const connectionById = (db: Executor) =>
  db
    .select()
    .from(codehostConnections)
    .where(eq(codehostConnections.id, sql.placeholder('id')))
    // Prepared, because each delivery needs it.
    .prepare('find connection of delivery')

/**
 * What the code host reported, by connection: its callers know that the connection is in their reach. When a delivery is
 * due is up to the clock of the database: an instance whose own is ahead would hide what it receives from the others.
 */
export function pushedDeliveriesRepository(db: Executor) {
  const store = deliveriesRepository(db, everywhere)
  const isIn = (connectionId: string, ids: string[]) =>
    and(eq(deliveries.connectionId, connectionId), sql`${deliveries.id} = any(${sql.param(ids)}::uuid[])`)
  // Earlier versions stored the numbers of other repositories' items.
  const isOfRepository = sql`${deliveries.reason} is distinct from 'other_repository'`
  // As the condition of the index says it.
  const isPending = sql`receiver = 'codehost' and outcome = 'pending'`
  const isDue = and(isPending, lte(deliveries.nextAttemptAt, databaseTime))

  let findConnection: ReturnType<typeof connectionById> | undefined

  return {
    /** The connection that deliveries are for. Outside any reach: they prove with their signature that they belong to it. */
    async findConnection(id: string): Promise<ConnectionRow | undefined> {
      findConnection ??= connectionById(db)
      const [row] = await findConnection.execute({ id })
      return row
    },

    /** Stores a delivery, unless it is known: a redelivery changes nothing. */
    async insert(row: DeliveryRow): Promise<'stored' | 'known' | 'disconnected'> {
      try {
        const inserted = await store.insert([row])
        return inserted.has(row.id) ? 'stored' : 'known'
      } catch (error) {
        if (violates(error, CONNECTION_KEY)) return 'disconnected'
        throw error
      }
    },

    /** When the latest delivery arrived, whatever its outcome. */
    async findLatestTime(connectionId: string): Promise<Date | undefined> {
      const [row] = await db
        .select({ receivedAt: deliveries.receivedAt })
        .from(deliveries)
        .where(eq(deliveries.connectionId, connectionId))
        .orderBy(desc(deliveries.id))
        .limit(1)
      return row?.receivedAt
    },

    /** Makes a delivery one that is to be applied. */
    async reset(connectionId: string, id: string): Promise<void> {
      await db
        .update(deliveries)
        .set({ outcome: 'pending', reason: null, attempts: 0, nextAttemptAt: databaseTime })
        .where(isIn(connectionId, [id]))
    },

    /** Connections with deliveries to apply, those that wait longest first. */
    async listDueConnections(limit: number): Promise<string[]> {
      const rows = await db
        .select({ connectionId: deliveries.connectionId })
        .from(deliveries)
        .where(isDue)
        .groupBy(deliveries.connectionId)
        .orderBy(sql`min(${deliveries.nextAttemptAt})`)
        .limit(limit)
      return rows.flatMap(({ connectionId }) => connectionId ?? [])
    },

    /** The oldest deliveries to apply, at least one, within a number of bytes. */
    async listDue(
      connectionId: string,
      { maxItems, maxBytes }: { maxItems: number; maxBytes: number },
    ): Promise<PendingRow[]> {
      const { id, nextAttemptAt } = deliveries
      const payloadBytes = sql<number>`coalesce(octet_length(${deliveries.payload}), 0)`.as('payload_bytes')
      // In the order of the index of those to apply: there are many others.
      const oldest = db
        .select({ id, payloadBytes, nextAttemptAt })
        .from(deliveries)
        .where(and(eq(deliveries.connectionId, connectionId), isDue))
        .orderBy(nextAttemptAt)
        .limit(maxItems)
        .as('oldest')
      const bytesBefore = sql<number>`sum(${oldest.payloadBytes})
        over (order by ${oldest.nextAttemptAt}, ${oldest.id}) - ${oldest.payloadBytes}`
      const sized = db
        .select({ id: oldest.id, bytesBefore: bytesBefore.as('bytes_before') })
        .from(oldest)
        .as('sized')
      return db
        .select({
          id: deliveries.id,
          event: deliveries.event,
          payload: deliveries.payload,
        })
        .from(deliveries)
        .where(
          and(
            eq(deliveries.connectionId, connectionId),
            inArray(
              deliveries.id,
              db.select({ id: sized.id }).from(sized).where(sql`${sized.bytesBefore} < ${maxBytes}`),
            ),
          ),
        )
        .orderBy(deliveries.id)
    },

    /** Which of these numbers were reported as deleted or transferred. */
    async listGone(connectionId: string, numbers: number[]): Promise<number[]> {
      if (numbers.length === 0) return []
      const rows = await db
        .select({ number: deliveries.number })
        .from(deliveries)
        .where(
          and(
            eq(deliveries.connectionId, connectionId),
            eq(deliveries.event, 'issues'),
            sql`${deliveries.action} in ('deleted', 'transferred')`,
            isOfRepository,
            sql`${deliveries.number} = any(${sql.param(numbers)}::integer[])`,
          ),
        )
      return rows.flatMap(({ number }) => number ?? [])
    },

    /** Which of these comments were reported as deleted: they never exist again. */
    async listDeletedComments(connectionId: string, externalIds: string[]): Promise<Set<string>> {
      if (externalIds.length === 0) return new Set()
      // Each by itself, in the order of the index that has them: another has all that was ever deleted.
      const place = sql`(${connectionId}::uuid, wanted.id)`
      const { rows } = await db.execute<{ id: string }>(sql`
        select wanted.id::text as id from unnest(${sql.param(externalIds)}::bigint[]) as wanted (id) cross join lateral (
          select from ${deliveries}
          where (connection_id, comment_id) >= ${place} and (connection_id, comment_id) <= ${place}
            and event = 'issue_comment' and action = 'deleted' and ${isOfRepository}
          order by connection_id, comment_id limit 1
        ) as deleted`)
      return new Set(rows.map(({ id }) => id))
    },

    /** Ends deliveries that are still to be applied; returns the outcome of each. */
    async settle(connectionId: string, settled: Settlement[]): Promise<Settlement['outcome'][]> {
      if (settled.length === 0) return []
      const { rows } = await db.execute<Pick<Settlement, 'outcome'>>(sql`
        update ${deliveries} set outcome = s.outcome, reason = s.reason, next_attempt_at = null,
          tasks = case when s."taskId" is null then '[]'::jsonb else
            jsonb_build_array(jsonb_build_object('taskId', s."taskId", 'created', s.outcome = 'accepted')) end
        from jsonb_to_recordset(${JSON.stringify(settled)}::jsonb)
          as s(id uuid, outcome text, reason text, "taskId" uuid)
        where connection_id = ${connectionId} and ${deliveries}.id = s.id
          and ${deliveries}.receiver = 'codehost' and ${deliveries}.outcome = 'pending'
        returning s.outcome`)
      return rows.map(({ outcome }) => outcome)
    },

    /** The time of the database. */
    now: (): Promise<Date> => databaseNow(db),

    async postpone(
      connectionId: string,
      { ids, afterMs }: { ids: string[]; afterMs: number },
    ): Promise<void> {
      if (ids.length === 0) return
      await db
        .update(deliveries)
        .set({ nextAttemptAt: inMs(afterMs) })
        .where(and(isIn(connectionId, ids), isPending))
    },

    /** Keeps deliveries until `resume`. */
    async suspend(connectionId: string, ids: string[]): Promise<void> {
      if (ids.length === 0) return
      await db
        .update(deliveries)
        .set({ nextAttemptAt: null })
        .where(and(isIn(connectionId, ids), isPending))
    },

    async resume(connectionId: string): Promise<void> {
      const { nextAttemptAt } = deliveries
      await db
        .update(deliveries)
        .set({ nextAttemptAt: databaseTime })
        .where(and(eq(deliveries.connectionId, connectionId), isPending, isNull(nextAttemptAt)))
    },

    /**
     * Counts a failed attempt: later again, each time after twice as long, or the end. Returns the outcome of those that
     * ended.
     */
    async retryLater(
      connectionId: string,
      retry: {
        ids: string[]
        reason: string | null
        /** When to try again, if it is known. */
        afterMs?: number | undefined
        firstMs: number
        maxMs: number
        maxAttempts: number
      },
    ): Promise<Settlement['outcome'][]> {
      const { attempts } = deliveries
      const seconds = sql`least(${retry.maxMs / 1000}, ${retry.firstMs / 1000} * 2 ^ ${attempts})`
      const next =
        retry.afterMs === undefined
          ? sql`${databaseTime} + make_interval(secs => ${seconds})`
          : inMs(retry.afterMs)
      const isLast = sql`${attempts} + 1 >= ${retry.maxAttempts}`
      const rows = await db
        .update(deliveries)
        .set({
          attempts: sql`${attempts} + 1`,
          reason: retry.reason,
          outcome: sql`case when ${isLast} then 'failed' else 'pending' end`,
          nextAttemptAt: sql`case when not ${isLast} then ${next} end`,
        })
        .where(and(isIn(connectionId, retry.ids), isPending))
        .returning({ outcome: deliveries.outcome })
      return rows.flatMap(({ outcome }) => (outcome === 'failed' ? outcome : []))
    },
  }
}
