import { violates } from '../../db/database-error.ts'
import { and, desc, eq, getTableColumns, inArray, isNull, lt, lte, sql } from '../../db/drizzle.ts'
import { codehostDeliveries } from '../../db/tables/codehost.ts'
import type { Executor } from '../index.ts'
import type { ConnectionRow } from './connections.ts'
import { databaseNow, databaseTime, inMs } from './database-time.ts'
import { connectionById, type NewDelivery, newDelivery } from './new-deliveries.ts'

export type DeliveryRow = typeof codehostDeliveries.$inferSelect

const { payload, ...short } = getTableColumns(codehostDeliveries)
const listed = { ...short, hasPayload: sql<boolean>`${payload} is not null` }

/** A delivery without its payload. */
export type ListedRow = Omit<DeliveryRow, 'payload'> & { hasPayload: boolean }

/** A delivery that is to be applied. */
export type PendingRow = Pick<DeliveryRow, 'id' | 'event' | 'payload'>

/** The outcome of a delivery. */
export interface Settlement {
  id: string
  status: 'applied' | 'dropped' | 'failed'
  /** Why it was not applied, or changed nothing. */
  reason: string | null
  taskId?: string | undefined
}

const CONNECTION_KEY = 'codehost_deliveries_connection_id_codehost_connections_id_fk'

/**
 * The inbox of the push receiver, by connection: its callers know that the connection is in their reach. When a delivery is
 * due is up to the clock of the database: an instance whose own is ahead would hide what it receives from the others.
 */
export function codehostDeliveriesRepository(db: Executor) {
  const isIn = (connectionId: string, ids: string[]) =>
    and(
      eq(codehostDeliveries.connectionId, connectionId),
      sql`${codehostDeliveries.id} = any(${sql.param(ids)}::uuid[])`,
    )
  // Earlier versions stored the numbers of other repositories' items.
  const isOfRepository = sql`${codehostDeliveries.reason} is distinct from 'other_repository'`
  const isDue = and(
    eq(codehostDeliveries.status, 'received'),
    lte(codehostDeliveries.nextAttemptAt, databaseTime),
  )

  let findConnection: ReturnType<typeof connectionById> | undefined
  let insert: ReturnType<typeof newDelivery> | undefined

  return {
    /** The connection that deliveries are for. Outside any reach: they prove with their signature that they belong to it. */
    async findConnection(id: string): Promise<ConnectionRow | undefined> {
      findConnection ??= connectionById(db)
      const [row] = await findConnection.execute({ id })
      return row
    },

    /** Stores a delivery, unless it is known: a redelivery changes nothing. */
    async insert(row: NewDelivery): Promise<'stored' | 'known' | 'disconnected'> {
      try {
        insert ??= newDelivery(db)
        const rows = await insert.execute(row)
        return rows.length > 0 ? 'stored' : 'known'
      } catch (error) {
        if (violates(error, CONNECTION_KEY)) return 'disconnected'
        throw error
      }
    },

    /** Newest first. */
    async list(
      connectionId: string,
      page: { status: DeliveryRow['status'] | undefined; before: string | undefined; limit: number },
    ): Promise<ListedRow[]> {
      return db
        .select(listed)
        .from(codehostDeliveries)
        .where(
          and(
            eq(codehostDeliveries.connectionId, connectionId),
            page.status ? eq(codehostDeliveries.status, page.status) : undefined,
            page.before ? lt(codehostDeliveries.id, page.before) : undefined,
          ),
        )
        .orderBy(desc(codehostDeliveries.id))
        .limit(page.limit)
    },

    async find(connectionId: string, id: string): Promise<ListedRow | undefined> {
      const [row] = await db
        .select(listed)
        .from(codehostDeliveries)
        .where(isIn(connectionId, [id]))
      return row
    },

    async findPayload(connectionId: string, id: string): Promise<Buffer | undefined> {
      const [row] = await db
        .select({ payload })
        .from(codehostDeliveries)
        .where(isIn(connectionId, [id]))
      return row?.payload ?? undefined
    },

    /** The latest delivery, whatever its outcome. */
    async findLatest(connectionId: string): Promise<ListedRow | undefined> {
      const [row] = await this.list(connectionId, { status: undefined, before: undefined, limit: 1 })
      return row
    },

    /** Makes a delivery one that is to be applied. */
    async reset(connectionId: string, id: string): Promise<void> {
      const change = { status: 'received' as const, reason: null, attempts: 0, appliedAt: null }
      await db
        .update(codehostDeliveries)
        .set({ ...change, nextAttemptAt: databaseTime })
        .where(isIn(connectionId, [id]))
    },

    /** Connections with deliveries to apply, those that wait longest first. */
    async listDueConnections(limit: number): Promise<string[]> {
      const rows = await db
        .select({ connectionId: codehostDeliveries.connectionId })
        .from(codehostDeliveries)
        .where(isDue)
        .groupBy(codehostDeliveries.connectionId)
        .orderBy(sql`min(${codehostDeliveries.nextAttemptAt})`)
        .limit(limit)
      return rows.map(({ connectionId }) => connectionId)
    },

    /** The oldest deliveries to apply, at least one, within a number of bytes. */
    async listDue(
      connectionId: string,
      { maxItems, maxBytes }: { maxItems: number; maxBytes: number },
    ): Promise<PendingRow[]> {
      const { id, payloadBytes, nextAttemptAt } = codehostDeliveries
      // In the order of the index of those to apply: the inbox has many others.
      const oldest = db
        .select({ id, payloadBytes, nextAttemptAt })
        .from(codehostDeliveries)
        .where(and(eq(codehostDeliveries.connectionId, connectionId), isDue))
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
          id: codehostDeliveries.id,
          event: codehostDeliveries.event,
          payload: codehostDeliveries.payload,
        })
        .from(codehostDeliveries)
        .where(
          and(
            eq(codehostDeliveries.connectionId, connectionId),
            inArray(
              codehostDeliveries.id,
              db.select({ id: sized.id }).from(sized).where(sql`${sized.bytesBefore} < ${maxBytes}`),
            ),
          ),
        )
        .orderBy(codehostDeliveries.id)
    },

    /** Which of these numbers were reported as deleted or transferred. */
    async listGone(connectionId: string, numbers: number[]): Promise<number[]> {
      if (numbers.length === 0) return []
      const rows = await db
        .select({ number: codehostDeliveries.number })
        .from(codehostDeliveries)
        .where(
          and(
            eq(codehostDeliveries.connectionId, connectionId),
            eq(codehostDeliveries.event, 'issues'),
            sql`${codehostDeliveries.action} in ('deleted', 'transferred')`,
            isOfRepository,
            sql`${codehostDeliveries.number} = any(${sql.param(numbers)}::integer[])`,
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
          select from ${codehostDeliveries}
          where (connection_id, comment_id) >= ${place} and (connection_id, comment_id) <= ${place}
            and event = 'issue_comment' and action = 'deleted' and ${isOfRepository}
          order by connection_id, comment_id limit 1
        ) as deleted`)
      return new Set(rows.map(({ id }) => id))
    },

    /** Ends deliveries that are still to be applied; returns the status of each. */
    async settle(
      connectionId: string,
      { settled, now }: { settled: Settlement[]; now: Date },
    ): Promise<Settlement['status'][]> {
      if (settled.length === 0) return []
      const { rows } = await db.execute<Pick<Settlement, 'status'>>(sql`
        update ${codehostDeliveries} set status = s.status, reason = s.reason, task_id = s."taskId",
          applied_at = case when s.status = 'applied' then ${now.toISOString()}::timestamptz end,
          next_attempt_at = null
        from jsonb_to_recordset(${JSON.stringify(settled)}::jsonb)
          as s(id uuid, status text, reason text, "taskId" uuid)
        where connection_id = ${connectionId} and ${codehostDeliveries}.id = s.id
          and ${codehostDeliveries}.status = 'received'
        returning s.status`)
      return rows.map(({ status }) => status)
    },

    /** The time of the database. */
    now: (): Promise<Date> => databaseNow(db),

    async postpone(
      connectionId: string,
      { ids, afterMs }: { ids: string[]; afterMs: number },
    ): Promise<void> {
      if (ids.length === 0) return
      await db
        .update(codehostDeliveries)
        .set({ nextAttemptAt: inMs(afterMs) })
        .where(and(isIn(connectionId, ids), eq(codehostDeliveries.status, 'received')))
    },

    /** Keeps deliveries until `releaseHeld`. */
    async hold(connectionId: string, ids: string[]): Promise<void> {
      if (ids.length === 0) return
      await db
        .update(codehostDeliveries)
        .set({ nextAttemptAt: null })
        .where(and(isIn(connectionId, ids), eq(codehostDeliveries.status, 'received')))
    },

    async releaseHeld(connectionId: string): Promise<void> {
      const { status, nextAttemptAt } = codehostDeliveries
      await db
        .update(codehostDeliveries)
        .set({ nextAttemptAt: databaseTime })
        .where(
          and(
            eq(codehostDeliveries.connectionId, connectionId),
            eq(status, 'received'),
            isNull(nextAttemptAt),
          ),
        )
    },

    /**
     * Counts a failed attempt: later again, each time after twice as long, or the end. Returns the status of those that
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
    ): Promise<Settlement['status'][]> {
      const { attempts } = codehostDeliveries
      const seconds = sql`least(${retry.maxMs / 1000}, ${retry.firstMs / 1000} * 2 ^ ${attempts})`
      const next =
        retry.afterMs === undefined
          ? sql`${databaseTime} + make_interval(secs => ${seconds})`
          : inMs(retry.afterMs)
      const isLast = sql`${attempts} + 1 >= ${retry.maxAttempts}`
      const rows = await db
        .update(codehostDeliveries)
        .set({
          attempts: sql`${attempts} + 1`,
          reason: retry.reason,
          status: sql`case when ${isLast} then 'failed' else 'received' end`,
          nextAttemptAt: sql`case when not ${isLast} then ${next} end`,
        })
        .where(and(isIn(connectionId, retry.ids), eq(codehostDeliveries.status, 'received')))
        .returning({ status: codehostDeliveries.status })
      return rows.flatMap(({ status }) => (status === 'received' ? [] : status))
    },
  }
}
