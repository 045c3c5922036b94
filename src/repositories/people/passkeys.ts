import { violates } from '../../db/database-error.ts'
import { and, asc, eq, gt, lt, ne, sql } from '../../db/drizzle.ts'
import { passkeys, users } from '../../db/tables/people.ts'
import { passkeyTaken } from '../../errors/index.ts'
import type { Executor } from '../index.ts'
import type { UserRow } from './users.ts'

export type PasskeyRow = typeof passkeys.$inferSelect

const counted = sql<number>`count(*)::integer`

/** Passkeys, each of one person. */
export function passkeysRepository(db: Executor) {
  return {
    /** @throws passkey_taken */
    async insert(passkey: PasskeyRow): Promise<void> {
      try {
        await db.insert(passkeys).values(passkey)
      } catch (error) {
        if (violates(error, 'passkeys_credential_id_unique')) throw passkeyTaken()
        throw error
      }
    },

    /** Oldest first. */
    async list(
      userId: string,
      { after, limit }: { after?: string | undefined; limit: number },
    ): Promise<PasskeyRow[]> {
      return db
        .select()
        .from(passkeys)
        .where(and(eq(passkeys.userId, userId), after === undefined ? undefined : gt(passkeys.id, after)))
        .orderBy(asc(passkeys.id))
        .limit(limit)
    },

    /** How many a person has for this host name. */
    async count(userId: string, rpId: string): Promise<number> {
      const [row] = await db
        .select({ count: counted })
        .from(passkeys)
        .where(and(eq(passkeys.userId, userId), eq(passkeys.rpId, rpId)))
      return row?.count ?? 0
    },

    /** Whether a person has one for this host name. */
    async isAny(userId: string, rpId: string): Promise<boolean> {
      const isOne = and(eq(passkeys.userId, userId), eq(passkeys.rpId, rpId))
      const rows = await db.select({ id: passkeys.id }).from(passkeys).where(isOne).limit(1)
      return rows.length > 0
    },

    /** Counts those for other host names. */
    async countOther(rpId: string | undefined): Promise<number> {
      const [row] = await db
        .select({ count: counted })
        .from(passkeys)
        .where(rpId === undefined ? undefined : ne(passkeys.rpId, rpId))
      return row?.count ?? 0
    },

    /** Stores a use, unless a later one is stored; returns whether it did. Some authenticators do not count. */
    async use(id: string, { counter, now }: { counter: number; now: Date }): Promise<boolean> {
      const isCounting = counter === 0 ? eq(passkeys.counter, 0) : lt(passkeys.counter, counter)
      const { rowCount } = await db
        .update(passkeys)
        .set({ counter, lastUsedAt: now })
        .where(and(eq(passkeys.id, id), isCounting))
      return rowCount === 1
    },

    async delete({ id, userId }: Pick<PasskeyRow, 'id' | 'userId'>): Promise<PasskeyRow | undefined> {
      const [row] = await db
        .delete(passkeys)
        .where(and(eq(passkeys.id, id), eq(passkeys.userId, userId)))
        .returning()
      return row
    },
  }
}

/** Authentication of people with passkeys, outside any reach. */
export function passkeyCredentials(db: Executor) {
  return {
    /** The passkey of an active person. */
    async find(credentialId: string): Promise<{ passkey: PasskeyRow; user: UserRow } | undefined> {
      const [row] = await db
        .select({ passkey: passkeys, user: users })
        .from(passkeys)
        .innerJoin(users, eq(users.id, passkeys.userId))
        .where(and(eq(passkeys.credentialId, credentialId), eq(users.isActive, true)))
      return row
    },
  }
}
