import { and, asc, eq, getTableColumns, gt, inArray, isNull, lt, type SQL, sql } from '../db/drizzle.ts'
import { apiKeySecrets, apiKeys, sessions } from '../db/tables/access.ts'
import { announceAccessChange } from './access-changes.ts'
import type { Executor } from './index.ts'
import type { KeyRow } from './keys.ts'
import { writeLastUsed } from './last-used.ts'
import { isReached, type Reach } from './reach.ts'
import { opaque } from './task-page-conditions.ts'

export type SessionRow = typeof sessions.$inferSelect
/** A session, with its key and the expiry of the secret that opened it. */
export type SessionWithKey = SessionRow & { key: KeyRow; secretExpiresAt: Date | null }

const columns = {
  ...getTableColumns(sessions),
  key: getTableColumns(apiKeys),
  secretExpiresAt: apiKeySecrets.expiresAt,
}

const selectSessions = (db: Executor) =>
  db
    .select(columns)
    .from(sessions)
    .innerJoin(apiKeys, eq(apiKeys.id, sessions.keyId))
    .innerJoin(apiKeySecrets, eq(apiKeySecrets.hash, sessions.secretHash))

/** Management of sessions, within a reach. */
export function sessionsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(apiKeys.projectId, reach)

  return {
    async insert(row: SessionRow): Promise<void> {
      await db.insert(sessions).values(row)
    },

    /** Sessions used since a time whose secrets are valid, oldest first; optionally of one key. */
    async list(filter: {
      keyId?: string | undefined
      seenSince: Date
      now: Date
      after?: string | undefined
      limit: number
    }) {
      return selectSessions(db)
        .where(
          and(
            inReach && opaque(inReach),
            opaque(isNull(apiKeys.revokedAt)),
            opaque(gt(sessions.lastSeenAt, filter.seenSince)),
            opaque(sql`(${apiKeySecrets.expiresAt} > ${filter.now.toISOString()}::timestamptz) is not false`),
            filter.keyId ? eq(sessions.keyId, filter.keyId) : undefined,
            filter.after ? gt(sessions.id, filter.after) : undefined,
          ),
        )
        .orderBy(asc(sessions.id))
        .limit(filter.limit)
    },

    async find(id: string): Promise<SessionWithKey | undefined> {
      const [row] = await selectSessions(db).where(and(eq(sessions.id, id), inReach))
      return row
    },

    /** Returns false if it had ended already. */
    async delete(id: string): Promise<boolean> {
      const ended = await db.delete(sessions).where(eq(sessions.id, id)).returning({ id: sessions.id })
      await announceAccessChange(db)
      return ended.length > 0
    },

    /** Deletes all sessions of a key, or all in reach; returns how many. */
    async deleteAll(keyId?: string): Promise<number> {
      const keys = db.select({ id: apiKeys.id }).from(apiKeys).where(inReach)
      const { rowCount } = await db
        .delete(sessions)
        .where(keyId ? eq(sessions.keyId, keyId) : inArray(sessions.keyId, keys))
      await announceAccessChange(db)
      return rowCount ?? 0
    },
  }
}

/** Authentication by session, outside any reach. */
export function sessionCredentials(db: Executor) {
  return {
    findByHash: (hash: string) => find(eq(sessions.hash, hash)),
    find: (id: string) => find(eq(sessions.id, id)),
    touch: (seen: Map<string, Date>) =>
      writeLastUsed(db, { table: sessions, column: 'lastSeenAt', used: seen }),

    async deleteSeenBefore(time: Date): Promise<void> {
      await db.delete(sessions).where(lt(sessions.lastSeenAt, time))
    },
  }

  async function find(which: SQL): Promise<SessionWithKey | undefined> {
    const [row] = await selectSessions(db).where(which)
    return row
  }
}
