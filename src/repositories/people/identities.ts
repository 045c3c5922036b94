import { and, asc, desc, eq, sql } from '../../db/drizzle.ts'
import { identities, identityProviders, passkeys, passwords, users } from '../../db/tables/people.ts'
import type { Executor } from '../index.ts'

export type IdentityRow = typeof identities.$inferSelect

/** Whom a provider knows: exactly one person, whatever else it says. */
export interface Subject {
  issuer: string
  subject: string
}

/** How people can sign in besides one provider. */
interface OtherWaysIn {
  hasPasswords: boolean
  /** The host name of passkeys that work. */
  rpId: string | undefined
  /** Whether there is a provider of the environment. */
  hasEnvironment: boolean
}

const now = sql`clock_timestamp()`

/** Links of people to identity providers. */
export function identitiesRepository(db: Executor) {
  return {
    /** Sign-ins of one subject take turns: two at once do not create two people. To be called before other locks. */
    async lock({ issuer, subject }: Subject): Promise<void> {
      const key = `${issuer}\n${subject}`
      await db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
    },

    /** Links a subject that was locked, and belongs to nobody. */
    async insert(row: Omit<IdentityRow, 'createdAt' | 'lastUsedAt' | 'isRoleManaged'>): Promise<void> {
      await db.insert(identities).values({ ...row, createdAt: now, lastUsedAt: now, isRoleManaged: false })
    },

    async findBySubject({ issuer, subject }: Subject): Promise<IdentityRow | undefined> {
      const [row] = await db
        .select()
        .from(identities)
        .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
      return row
    },

    /** Those of a person, oldest first. */
    async list(userId: string): Promise<IdentityRow[]> {
      return db
        .select()
        .from(identities)
        .where(eq(identities.userId, userId))
        .orderBy(asc(identities.id))
        .limit(MAX_LISTED)
    },

    /** Stores a sign-in: where, as several providers have had this issuer over time, and whether it decided the role. */
    async use(
      { issuer, subject }: Subject,
      used: Pick<IdentityRow, 'providerId' | 'redirectUrl' | 'isRoleManaged'>,
    ): Promise<void> {
      await db
        .update(identities)
        .set({ ...used, lastUsedAt: now })
        .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
    },

    /** Deletes one of a person; returns it. */
    async delete(id: string, userId: string): Promise<IdentityRow | undefined> {
      const [row] = await db
        .delete(identities)
        .where(and(eq(identities.id, id), eq(identities.userId, userId)))
        .returning()
      return row
    },

    async deleteOfProvider(providerId: string): Promise<void> {
      await db.delete(identities).where(eq(identities.providerId, providerId))
    },

    /** Where each provider sent the browser of whoever signed in there last; null if that is not known. */
    async listLastRedirects(): Promise<Pick<IdentityRow, 'providerId' | 'redirectUrl'>[]> {
      const { providerId, redirectUrl, lastUsedAt } = identities
      return db
        .selectDistinctOn([providerId], { providerId, redirectUrl })
        .from(identities)
        .orderBy(providerId, desc(lastUsedAt))
    },

    /** Whether a person has a role that the groups at a provider decide. */
    async hasManagedRole(userId: string): Promise<boolean> {
      const rows = await db
        .select({ id: identities.id })
        .from(identities)
        .innerJoin(identityProviders, eq(sql`${identityProviders.id}::text`, identities.providerId))
        .where(
          and(
            eq(identities.userId, userId),
            identities.isRoleManaged,
            eq(identityProviders.isActive, true),
            sql`${identityProviders.roleByGroup} <> '{}'`,
          ),
        )
        .limit(1)
      return rows.length > 0
    },

    /** How many active people can sign in with a provider only. */
    async countDependent(
      providerId: string,
      { hasPasswords, rpId = '', hasEnvironment }: OtherWaysIn,
    ): Promise<number> {
      const other = sql`select 1 from ${identities} o
        where o.user_id = ${users.id} and o.provider_id <> ${providerId}
          and (${hasEnvironment} and o.provider_id = 'env'
            or exists (select 1 from ${identityProviders} p where p.id::text = o.provider_id and p.is_active))`
      const password = sql`select 1 from ${passwords} w where w.user_id = ${users.id} and ${hasPasswords}`
      const passkey = sql`select 1 from ${passkeys} k where k.user_id = ${users.id} and k.rp_id = ${rpId}`
      const { rows } = await db.execute<{ count: number }>(sql`
        select count(*)::integer as count from ${users}
        where ${users.isActive} and not exists (${other}) and not exists (${password})
          and not exists (${passkey})
          and exists (select 1 from ${identities} i
            where i.user_id = ${users.id} and i.provider_id = ${providerId})`)
      return rows[0]?.count ?? 0
    },
  }
}

/** Nobody has as many. */
const MAX_LISTED = 50
