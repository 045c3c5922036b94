import { and, asc, eq, gt, sql } from '../db/drizzle.ts'
import { apiKeys } from '../db/tables/access.ts'
import { users } from '../db/tables/people.ts'
import { savedFilters } from '../db/tables/saved-filters.ts'
import type { Executor } from './index.ts'

export type SavedFilterRow = Omit<typeof savedFilters.$inferSelect, 'keyId' | 'userId'>
type NewFilterRow = SavedFilterRow & { holder: FilterHolder }

/** Whose saved filters: of a key or a person. */
export interface FilterHolder {
  type: 'key' | 'user'
  id: string
}

/** One saved filter of somebody. */
export interface FilterOf {
  id: string
  holder: FilterHolder
}

const isOf = ({ type, id }: FilterHolder) =>
  eq(type === 'user' ? savedFilters.userId : savedFilters.keyId, id)

/** The saved filters of keys and people. */
export function savedFiltersRepository(db: Executor) {
  const isThe = ({ id, holder }: FilterOf) => and(eq(savedFilters.id, id), isOf(holder))

  return {
    /** Inserts it unless its holder has `max` already; returns whether it did. The holder's row is the lock. */
    async insertUpTo(max: number, { holder, ...row }: NewFilterRow): Promise<boolean> {
      const { type, id } = holder
      const holders = type === 'user' ? users : apiKeys
      await db.select({ id: holders.id }).from(holders).where(eq(holders.id, id)).for('no key update')
      const [counted] = await db
        .select({ count: sql<number>`count(*)::integer` })
        .from(savedFilters)
        .where(isOf(holder))
      if ((counted?.count ?? 0) >= max) return false
      await db.insert(savedFilters).values({ ...row, ...(type === 'user' ? { userId: id } : { keyId: id }) })
      return true
    },

    /** Oldest first. */
    async list(
      holder: FilterHolder,
      { after, limit }: { after: string | undefined; limit: number },
    ): Promise<SavedFilterRow[]> {
      return db
        .select()
        .from(savedFilters)
        .where(and(isOf(holder), after === undefined ? undefined : gt(savedFilters.id, after)))
        .orderBy(asc(savedFilters.id))
        .limit(limit)
    },

    async find(which: FilterOf): Promise<SavedFilterRow | undefined> {
      const [row] = await db.select().from(savedFilters).where(isThe(which))
      return row
    },

    async update(which: FilterOf, change: Partial<Pick<SavedFilterRow, 'name' | 'query'>>): Promise<void> {
      await db.update(savedFilters).set(change).where(isThe(which))
    },

    /** Changes the list of all that name this one, whosever they are. */
    async moveList(fromId: string, toId: string): Promise<void> {
      await db
        .update(savedFilters)
        .set({ query: sql`jsonb_set(${savedFilters.query}, '{listId}', to_jsonb(${toId}::text))` })
        .where(sql`${savedFilters.query}->>'listId' = ${fromId}`)
    },

    /** Returns whether it existed. */
    async delete(which: FilterOf): Promise<boolean> {
      const { rowCount } = await db.delete(savedFilters).where(isThe(which))
      return rowCount === 1
    },
  }
}
