import { and, asc, desc, eq, getTableColumns, gt, isNull, ne, or, sql } from '../db/drizzle.ts'
import { apiKeySecrets, apiKeys } from '../db/tables/access.ts'
import { users } from '../db/tables/people.ts'
import { announceAccessChange } from './access-changes.ts'
import type { Executor } from './index.ts'
import { writeLastUsed } from './last-used.ts'
import type { UserRow } from './people/users.ts'
import { isReached, type Reach } from './reach.ts'
import { opaque } from './task-page-conditions.ts'

export type KeyRow = typeof apiKeys.$inferSelect
export type KeySecretRow = typeof apiKeySecrets.$inferSelect
/** A key, with the expiry of the secret that it was found by, and its person. */
export type KeyBySecret = KeyRow & { secretExpiresAt: Date | null; user: UserRow | null }
type NamedKey = Pick<KeyRow, 'id' | 'name'>
/** A key with the visible parts of its secrets. */
export type ShownKeyRow = KeyRow &
  Pick<KeySecretRow, 'prefix' | 'lastFour'> & { previousSecretExpiresAt: Date | null }

/** Taken to revoke an admin key of all projects: otherwise two callers could revoke each other's, and none remain. */
const ADMIN_KEYS_LOCK = 0x1a5_7ad

interface KeyPageRequest {
  /** Only personal keys of this person. */
  userId?: string | undefined
  /** The id at the end of the previous page. */
  after: string | undefined
  limit: number
  now: Date
}

/** Management of keys, within a reach. Personal keys are in reach of all projects. */
export function keysRepository(db: Executor, reach: Reach) {
  const isOfProject = isReached(apiKeys.projectId, reach)
  const inReach = isOfProject && and(isOfProject, isNull(apiKeys.userId))

  return {
    async insert(key: KeyRow, secret: KeySecretRow): Promise<void> {
      await db.insert(apiKeys).values(key)
      await db.insert(apiKeySecrets).values(secret)
    },

    async hasAny(): Promise<boolean> {
      const rows = await db.select({ id: apiKeys.id }).from(apiKeys).limit(1)
      return rows.length > 0
    },

    /** Keys that were not revoked, oldest first. */
    async list({ userId, after, limit, now }: KeyPageRequest): Promise<ShownKeyRow[]> {
      const ofKey = eq(apiKeySecrets.keyId, apiKeys.id)
      const newest = db
        .select()
        .from(apiKeySecrets)
        .where(ofKey)
        .orderBy(desc(apiKeySecrets.createdAt))
        .limit(1)
        .as('newest')
      const previous = db
        .select({ expiresAt: apiKeySecrets.expiresAt })
        .from(apiKeySecrets)
        .where(and(ofKey, gt(apiKeySecrets.expiresAt, now)))
        .orderBy(desc(apiKeySecrets.expiresAt))
        .limit(1)
        .as('previous')
      // Without statistics the planner expects hardly any key that was not revoked, and would read and sort all.
      const isLive = opaque(isNull(apiKeys.revokedAt))
      const isListed = userId === undefined ? inReach : eq(apiKeys.userId, userId)
      return db
        .select({
          ...getTableColumns(apiKeys),
          prefix: newest.prefix,
          lastFour: newest.lastFour,
          previousSecretExpiresAt: previous.expiresAt,
        })
        .from(apiKeys)
        .innerJoinLateral(newest, sql`true`)
        .leftJoinLateral(previous, sql`true`)
        .where(and(isListed, isLive, after ? gt(apiKeys.id, after) : undefined))
        .orderBy(asc(apiKeys.id))
        .limit(limit)
    },

    /** Locks a key that was not revoked. */
    async findForUpdate(id: string): Promise<KeyRow | undefined> {
      const [row] = await db
        .select()
        .from(apiKeys)
        .where(and(eq(apiKeys.id, id), inReach, isNull(apiKeys.revokedAt)))
        .for('update')
      return row
    },

    /** Locks a personal key that was not revoked. */
    async findOfUserForUpdate(id: string, userId: string): Promise<KeyRow | undefined> {
      const [row] = await db
        .select()
        .from(apiKeys)
        .where(and(eq(apiKeys.id, id), eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
        .for('update')
      return row
    },

    /** Locks a key that was not revoked against changes. */
    async findForShare(id: string): Promise<KeyRow | undefined> {
      const [row] = await db
        .select()
        .from(apiKeys)
        .where(and(eq(apiKeys.id, id), inReach, isNull(apiKeys.revokedAt)))
        .for('share')
      return row
    },

    /** How many keys of a person were not revoked. */
    async countOfUser(userId: string): Promise<number> {
      const [row] = await db
        .select({ count: sql<number>`count(*)::int` })
        .from(apiKeys)
        .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
      return row?.count ?? 0
    },

    /** Valid keys of other systems that this person created, oldest first. */
    async listCreatedBy(userId: string, { now, limit }: { now: Date; limit: number }): Promise<NamedKey[]> {
      return db
        .select({ id: apiKeys.id, name: apiKeys.name })
        .from(apiKeys)
        .where(
          and(
            eq(apiKeys.createdById, userId),
            isNull(apiKeys.userId),
            isNull(apiKeys.revokedAt),
            or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
          ),
        )
        .orderBy(asc(apiKeys.id))
        .limit(limit)
    },

    /** Whether another key can administer all projects; no such key can be revoked until the transaction ends. */
    async isAnotherAdmin(id: string, now: Date): Promise<boolean> {
      await db.execute(sql`select pg_advisory_xact_lock(${ADMIN_KEYS_LOCK})`)
      const rows = await db
        .select({ id: apiKeys.id })
        .from(apiKeys)
        .where(
          and(
            ne(apiKeys.id, id),
            isNull(apiKeys.userId),
            isNull(apiKeys.projectId),
            sql`'admin' = any(${apiKeys.scopes})`,
            isNull(apiKeys.revokedAt),
            or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
          ),
        )
        .limit(1)
      return rows.length > 0
    },

    /** Adds a secret; the previous one is valid until that time, older ones expire. */
    async rotate(secret: KeySecretRow, previousUntil: Date): Promise<void> {
      const { keyId, createdAt } = secret
      const [newest] = await db
        .select({ hash: apiKeySecrets.hash })
        .from(apiKeySecrets)
        .where(eq(apiKeySecrets.keyId, keyId))
        .orderBy(desc(apiKeySecrets.createdAt), desc(apiKeySecrets.expiresAt))
        .limit(1)
      // Expired, not deleted: an old secret in the environment must not be taken for a new one.
      const isOlder = ne(apiKeySecrets.hash, newest?.hash ?? '')
      const isLive = or(isNull(apiKeySecrets.expiresAt), gt(apiKeySecrets.expiresAt, createdAt))
      await db
        .update(apiKeySecrets)
        .set({ expiresAt: createdAt })
        .where(and(eq(apiKeySecrets.keyId, keyId), isOlder, isLive))
      await db
        .update(apiKeySecrets)
        .set({ expiresAt: previousUntil })
        .where(and(eq(apiKeySecrets.keyId, keyId), eq(apiKeySecrets.hash, newest?.hash ?? '')))
      await db.insert(apiKeySecrets).values(secret)
      await announceAccessChange(db)
    },

    async revoke(id: string, now: Date): Promise<void> {
      await db.update(apiKeys).set({ revokedAt: now }).where(eq(apiKeys.id, id))
      await announceAccessChange(db)
    },

    /** Revokes the personal keys of a person. */
    async revokeOfUser(userId: string, now: Date): Promise<void> {
      await db
        .update(apiKeys)
        .set({ revokedAt: now })
        .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
      await announceAccessChange(db)
    },
  }
}

/** Authentication by key, outside any reach. */
export function keyCredentials(db: Executor) {
  return {
    /** The key of a secret, also if it is revoked or expired. */
    async findBySecret(hash: string): Promise<KeyBySecret | undefined> {
      const [row] = await db
        .select({ ...getTableColumns(apiKeys), secretExpiresAt: apiKeySecrets.expiresAt, user: users })
        .from(apiKeySecrets)
        .innerJoin(apiKeys, eq(apiKeys.id, apiKeySecrets.keyId))
        .leftJoin(users, eq(users.id, apiKeys.userId))
        .where(eq(apiKeySecrets.hash, hash))
      return row
    },

    touch: (used: Map<string, Date>) => writeLastUsed(db, { table: apiKeys, column: 'lastUsedAt', used }),
  }
}
