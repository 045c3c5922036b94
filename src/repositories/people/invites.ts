import { and, asc, eq, gt, lte, sql } from '../../db/drizzle.ts'
import { invites } from '../../db/tables/people.ts'
import type { Executor } from '../index.ts'

export type InviteRow = typeof invites.$inferSelect

const LIFETIME_DAYS = 7
/** The instances' clocks may differ: only that of the database counts. */
const isLive = gt(invites.expiresAt, sql`clock_timestamp()`)
const isExpired = lte(invites.expiresAt, sql`clock_timestamp()`)

/** Invites that were neither accepted nor withdrawn. */
export function invitesRepository(db: Executor) {
  return {
    /** Stores an invite, which expires in 7 days. */
    async insert(invite: Omit<InviteRow, 'createdAt' | 'expiresAt'>): Promise<InviteRow> {
      const [row] = await db
        .insert(invites)
        .values({
          ...invite,
          createdAt: sql`clock_timestamp()`,
          expiresAt: sql`clock_timestamp() + make_interval(days => ${LIFETIME_DAYS})`,
        })
        .returning()
      // Cast: an insert without a conflict clause returns its row.
      return row as InviteRow
    },

    /** Those that have not expired, oldest first. */
    async list({ after, limit }: { after: string | undefined; limit: number }): Promise<InviteRow[]> {
      return db
        .select()
        .from(invites)
        .where(and(isLive, after ? gt(invites.id, after) : undefined))
        .orderBy(asc(invites.id))
        .limit(limit)
    },

    async findBySecret(hash: string): Promise<InviteRow | undefined> {
      const [row] = await db
        .select()
        .from(invites)
        .where(and(eq(invites.hash, hash), isLive))
      return row
    },

    /** Deletes an invite and returns it: of several that accept it at once, one gets it. */
    async take(hash: string): Promise<InviteRow | undefined> {
      const [row] = await db
        .delete(invites)
        .where(and(eq(invites.hash, hash), isLive))
        .returning()
      return row
    },

    async delete(id: string): Promise<InviteRow | undefined> {
      const [row] = await db.delete(invites).where(eq(invites.id, id)).returning()
      return row
    },

    /** Deletes all; returns how many. */
    async deleteAll(): Promise<number> {
      const { rowCount } = await db.delete(invites)
      return rowCount ?? 0
    },

    async deleteExpired(): Promise<void> {
      await db.delete(invites).where(isExpired)
    },

    /** Deletes those that a key or a person created, who may not any more. */
    async deleteCreatedBy(id: string): Promise<void> {
      await db.delete(invites).where(eq(invites.invitedById, id))
    },

    async deleteOfUser(userId: string): Promise<void> {
      await db.delete(invites).where(eq(invites.userId, userId))
    },
  }
}
