import { asc, eq, sql } from '../../db/drizzle.ts'
import { identityProviders } from '../../db/tables/people.ts'
import type { Executor } from '../index.ts'

export type IdentityProviderRow = typeof identityProviders.$inferSelect

/** Excludes others that insert a provider. */
const INSERT_LOCK = 0x0069_6470

/** Identity providers, except for the one of the environment. */
export function identityProvidersRepository(db: Executor) {
  return {
    /** Inserts take turns, so that there are neither too many, nor two with one issuer. */
    async lockInserts(): Promise<void> {
      await db.execute(sql`select pg_advisory_xact_lock(${INSERT_LOCK})`)
    },

    async insert(row: IdentityProviderRow): Promise<void> {
      await db.insert(identityProviders).values(row)
    },

    /** All, oldest first. */
    async list(): Promise<IdentityProviderRow[]> {
      return db.select().from(identityProviders).orderBy(asc(identityProviders.id))
    },

    async find(id: string): Promise<IdentityProviderRow | undefined> {
      const [row] = await db.select().from(identityProviders).where(eq(identityProviders.id, id))
      return row
    },

    /** Locks a provider against changes. */
    async findForShare(id: string): Promise<IdentityProviderRow | undefined> {
      const [row] = await db.select().from(identityProviders).where(eq(identityProviders.id, id)).for('share')
      return row
    },

    async findForUpdate(id: string): Promise<IdentityProviderRow | undefined> {
      const [row] = await db
        .select()
        .from(identityProviders)
        .where(eq(identityProviders.id, id))
        .for('update')
      return row
    },

    async update(id: string, change: Partial<Omit<IdentityProviderRow, 'id' | 'issuer'>>): Promise<void> {
      await db.update(identityProviders).set(change).where(eq(identityProviders.id, id))
    },

    async delete(id: string): Promise<void> {
      await db.delete(identityProviders).where(eq(identityProviders.id, id))
    },
  }
}
