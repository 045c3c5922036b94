import { and, asc, eq, getTableColumns, gt, gte, inArray, sql } from '../../db/drizzle.ts'
import { sources } from '../../db/tables/sources.ts'
import type { Executor } from '../index.ts'
import { isReached, isReachedBy, type Reach } from '../reach.ts'
import { hasBacklog } from './backlog.ts'

export type SourceRow = typeof sources.$inferSelect

/** Sources, within a reach. */
export function sourcesRepository(db: Executor, reach: Reach) {
  const inReach = isReached(sources.projectId, reach)
  const isId = (id: string) => and(eq(sources.id, id), inReach)
  let findById: ReturnType<typeof sourceById> | undefined

  return {
    async insert(row: SourceRow): Promise<void> {
      await db.insert(sources).values(row)
    },

    /** With whether it has pending deliveries. */
    async find(id: string): Promise<(SourceRow & { hasBacklog: boolean }) | undefined> {
      findById ??= sourceById(db)
      const [row] = await findById.execute({ id, reach: reach.projectIds })
      return row
    },

    /** Locks it until the transaction ends, without delaying deliveries. */
    async findForUpdate(id: string): Promise<SourceRow | undefined> {
      const [row] = await db.select().from(sources).where(isId(id)).for('no key update')
      return row
    },

    /** The same for several, in the order in which they are locked everywhere. Returns those that exist. */
    async listForUpdate(ids: string[]): Promise<SourceRow[]> {
      return db
        .select()
        .from(sources)
        .where(and(inArray(sources.id, ids), inReach))
        .orderBy(asc(sources.id))
        .for('no key update')
    },

    /**
     * Locks those that exist, so that none is deleted until the transaction ends. Returns by their ids whether they have
     * pending deliveries.
     */
    async listForShare(ids: string[]): Promise<Map<string, boolean>> {
      const rows = await db
        .select({ id: sources.id, hasBacklog })
        .from(sources)
        .where(and(sql`${sources.id} = any(${sql.param(ids)}::uuid[])`, inReach))
        .orderBy(asc(sources.id))
        .for('key share')
      return new Map(rows.map(({ id, hasBacklog }) => [id, hasBacklog]))
    },

    /** Oldest first. */
    async list(page: {
      projectId: string | undefined
      after: string | undefined
      limit: number
    }): Promise<SourceRow[]> {
      return db
        .select()
        .from(sources)
        .where(
          and(
            inReach,
            page.projectId === undefined ? undefined : eq(sources.projectId, page.projectId),
            page.after === undefined ? undefined : gt(sources.id, page.after),
          ),
        )
        .orderBy(asc(sources.id))
        .limit(page.limit)
    },

    async update(id: string, change: Partial<SourceRow>): Promise<void> {
      await db.update(sources).set(change).where(isId(id))
    },

    /** Changes the list of those that use this one, and returns them. */
    async moveList(fromId: string, toId: string): Promise<Pick<SourceRow, 'id' | 'name'>[]> {
      return db
        .update(sources)
        .set({ listId: toId })
        .where(and(eq(sources.listId, fromId), inReach))
        .returning({ id: sources.id, name: sources.name })
    },

    /**
     * Counts a delivery that took too long to render, and switches the source off if it is the last of `maxInRow`.
     * Returns whether it did.
     */
    async countSlow(id: string, { maxInRow }: { maxInRow: number }): Promise<boolean> {
      const slowDeliveries = sql`${sources.slowDeliveries} + 1`
      await db.update(sources).set({ slowDeliveries }).where(isId(id))
      const off = await db
        .update(sources)
        .set({ isActive: false, disabledReason: 'slow' })
        .where(and(isId(id), eq(sources.isActive, true), gte(sources.slowDeliveries, maxInRow)))
        .returning({ id: sources.id })
      return off.length > 0
    },

    /** A delivery of them was rendered in time. */
    async clearSlow(ids: string[]): Promise<void> {
      if (ids.length === 0) return
      const inLockOrder = db
        .select({ id: sources.id })
        .from(sources)
        .where(and(inArray(sources.id, ids), gt(sources.slowDeliveries, 0)))
        .orderBy(asc(sources.id))
        .for('no key update')
      await db.update(sources).set({ slowDeliveries: 0 }).where(inArray(sources.id, inLockOrder))
    },

    async delete(id: string): Promise<void> {
      await db.delete(sources).where(isId(id))
    },
  }
}

/** Prepared, because each delivery needs it. */
const sourceById = (db: Executor) =>
  db
    .select({ ...getTableColumns(sources), hasBacklog })
    .from(sources)
    .where(
      and(eq(sources.id, sql.placeholder('id')), isReachedBy(sources.projectId, sql.placeholder('reach'))),
    )
    .prepare('find source')
