import { and, asc, eq, gt, sql } from '../db/drizzle.ts'
import { apiKeys } from '../db/tables/access.ts'
import { savedFilters } from '../db/tables/saved-filters.ts'
import type { Executor } from './index.ts'

export type SavedFilterRow = typeof savedFilters.$inferSelect

/** The saved filters of keys. */
export function savedFiltersRepository(db: Executor) {
  const isThe = ({ id, keyId }: Pick<SavedFilterRow, 'id' | 'keyId'>) =>
    and(eq(savedFilters.id, id), eq(savedFilters.keyId, keyId))

  return {
    /** Inserts it unless the key has `max` already; returns whether it did. The key's row is the lock. */
    async insertUpTo(max: number, row: SavedFilterRow): Promise<boolean> {
      await db.select({ id: apiKeys.id }).from(apiKeys).where(eq(apiKeys.id, row.keyId)).for('no key update')
      const [counted] = await db
        .select({ count: sql<number>`count(*)::integer` })
        .from(savedFilters)
        .where(eq(savedFilters.keyId, row.keyId))
      if ((counted?.count ?? 0) >= max) return false
      await db.insert(savedFilters).values(row)
      return true
    },

    /** Oldest first. */
    async list(
      keyId: string,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<SavedFilterRow[]> {
      return db
        .select()
        .from(savedFilters)
        .where(
          and(eq(savedFilters.keyId, keyId), after === undefined ? undefined : gt(savedFilters.id, after)),
        )
        .orderBy(asc(savedFilters.id))
        .limit(limit)
    },

    async find(key: Pick<SavedFilterRow, 'id' | 'keyId'>): Promise<SavedFilterRow | undefined> {
      const [row] = await db.select().from(savedFilters).where(isThe(key))
      return row
    },

    async update(
      key: Pick<SavedFilterRow, 'id' | 'keyId'>,
      change: Partial<Pick<SavedFilterRow, 'name' | 'query'>>,
    ): Promise<void> {
      await db.update(savedFilters).set(change).where(isThe(key))
    },

    /** Changes the list of all that name this one, whosever they are. */
    async moveList(fromId: string, toId: string): Promise<void> {
      await db
        .update(savedFilters)
        .set({ query: sql`jsonb_set(${savedFilters.query}, '{listId}', to_jsonb(${toId}::text))` })
        .where(sql`${savedFilters.query}->>'listId' = ${fromId}`)
    },

    /** Returns whether it existed. */
    async delete(key: Pick<SavedFilterRow, 'id' | 'keyId'>): Promise<boolean> {
      const { rowCount } = await db.delete(savedFilters).where(isThe(key))
      return rowCount === 1
    },
  }
}
