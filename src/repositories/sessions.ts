import { and, asc, eq, getTableColumns, gt, isNull, lt, or, type SQL, sql } from '../db/drizzle.ts'
import { apiKeySecrets, apiKeys, sessions } from '../db/tables/access.ts'
import { users } from '../db/tables/people.ts'
import { announceAccessChange } from './access-changes.ts'
import type { Executor } from './index.ts'
import type { KeyRow } from './keys.ts'
import { writeLastUsed } from './last-used.ts'
import type { UserRow } from './people/users.ts'
import { isReached, type Reach } from './reach.ts'
import { opaque } from './task-page-conditions.ts'

export type SessionRow = typeof sessions.$inferSelect

/** A session with its person, or with its key and the expiry of the secret that opened it. */
export type SessionWithHolder = SessionRow & {
  key: KeyRow | null
  secretExpiresAt: Date | null
  user: UserRow | null
  /** Whether the session of a person has neither been idle for too long nor lasted too long. */
  isWithinLimits: boolean
  /** Whether the person signed in less than ten minutes ago. */
  isRecent: boolean
}

/** Sessions of people; those of keys end after `SESSION_IDLE_MS`. */
const MAX_IDLE = sql`interval '7 days'`
const MAX_AGE = sql`interval '30 days'`
const RECENT = sql`interval '10 minutes'`

/** The instances' clocks may differ: for people, only that of the database counts. */
const now = sql`clock_timestamp()`
const isWithinLimits = sql<boolean>`(${sessions.lastSeenAt} > ${now} - ${MAX_IDLE}
  and ${sessions.createdAt} > ${now} - ${MAX_AGE})`

const columns = {
  ...getTableColumns(sessions),
  key: apiKeys,
  secretExpiresAt: apiKeySecrets.expiresAt,
  user: users,
  isWithinLimits,
  isRecent: sql<boolean>`${sessions.createdAt} > ${now} - ${RECENT}`,
}

const selectSessions = (db: Executor) =>
  db
    .select(columns)
    .from(sessions)
    .leftJoin(apiKeys, eq(apiKeys.id, sessions.keyId))
    .leftJoin(apiKeySecrets, eq(apiKeySecrets.hash, sessions.secretHash))
    .leftJoin(users, eq(users.id, sessions.userId))

/** A key or a person: exactly one. */
export type SessionHolder = { keyId: string } | { userId: string }

interface SessionFilter {
  holder?: SessionHolder | undefined
  /** For those of keys. */
  seenSince: Date
  now: Date
  after?: string | undefined
  limit: number
}

const isOf = (holder: SessionHolder): SQL =>
  'keyId' in holder ? eq(sessions.keyId, holder.keyId) : eq(sessions.userId, holder.userId)

/** Management of sessions, within a reach. Those of people are in reach of all projects, and of their person. */
export function sessionsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(apiKeys.projectId, reach)

  return {
    async insert(row: Omit<SessionRow, 'userId'>): Promise<void> {
      await db.insert(sessions).values(row)
    },

    /** Stores the session of a person, which begins now. */
    async insertOfUser(row: Pick<SessionRow, 'id' | 'hash' | 'userId' | 'userAgent'>): Promise<SessionRow> {
      const [session] = await db
        .insert(sessions)
        .values({ ...row, createdAt: now, lastSeenAt: now })
        .returning()
      // Cast: an insert without a conflict clause returns its row.
      return session as SessionRow
    },

    /** Sessions that have not ended, oldest first; optionally of one key or person. */
    async list(filter: SessionFilter): Promise<SessionWithHolder[]> {
      const { holder } = filter
      // Without statistics the planner would read all in the order of their ids.
      const ids = holder && db.select({ id: sessions.id }).from(sessions).where(isOf(holder))
      const isOpen = sql`case when ${sessions.userId} is null
        then ${apiKeys.revokedAt} is null and ${gt(sessions.lastSeenAt, filter.seenSince)}
          and (${apiKeySecrets.expiresAt} > ${filter.now.toISOString()}::timestamptz) is not false
        else ${users.isActive} and ${isWithinLimits} end`
      return selectSessions(db)
        .where(
          and(
            inReach && !(holder && 'userId' in holder) ? opaque(inReach) : undefined,
            opaque(isOpen),
            ids && sql`${sessions.id} = any(array(${ids}))`,
            filter.after ? gt(sessions.id, filter.after) : undefined,
          ),
        )
        .orderBy(asc(sessions.id))
        .limit(filter.limit)
    },

    /** A session in reach, or of this person. */
    async find(id: string, userId?: string): Promise<SessionWithHolder | undefined> {
      const isFound = inReach && userId !== undefined ? or(inReach, eq(sessions.userId, userId)) : inReach
      const [row] = await selectSessions(db).where(and(eq(sessions.id, id), isFound))
      return row
    },

    /** Returns false if it had ended already. */
    async delete(id: string): Promise<boolean> {
      const ended = await db.delete(sessions).where(eq(sessions.id, id)).returning({ id: sessions.id })
      await announceAccessChange(db)
      return ended.length > 0
    },

    /** Deletes all sessions of a key or a person; returns how many. */
    async deleteOf(holder: SessionHolder, { exceptId }: { exceptId?: string } = {}): Promise<number> {
      const isOther = exceptId === undefined ? undefined : sql`${sessions.id} <> ${exceptId}`
      const { rowCount } = await db.delete(sessions).where(and(isOf(holder), isOther))
      await announceAccessChange(db)
      return rowCount ?? 0
    },

    /** Deletes all in reach; returns how many. */
    async deleteAll(): Promise<number> {
      const keys = db.select({ id: apiKeys.id }).from(apiKeys).where(inReach)
      const { rowCount } = await db.delete(sessions).where(inReach && sql`${sessions.keyId} in (${keys})`)
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
    touch: (seen: Map<string, Date>, at: Date) =>
      writeLastUsed(db, {
        table: sessions,
        column: 'lastSeenAt',
        used: seen,
        timeOf(seenAt) {
          // The clock of this instance may have been set back since.
          const seconds = Math.max(0, at.getTime() - seenAt.getTime()) / 1_000
          return sql`case when ${sessions.userId} is null then ${seenAt.toISOString()}::timestamptz
            else ${now} - make_interval(secs => ${seconds}) end`
        },
      }),

    /** Deletes those of keys that were last used before that time, and those of people that are past their limits. */
    async deleteEnded(seenBefore: Date): Promise<void> {
      await db
        .delete(sessions)
        .where(
          or(
            and(isNull(sessions.userId), lt(sessions.lastSeenAt, seenBefore)),
            and(sql`${sessions.userId} is not null`, sql`not ${isWithinLimits}`),
          ),
        )
    },
  }

  async function find(which: SQL): Promise<SessionWithHolder | undefined> {
    const [row] = await selectSessions(db).where(which)
    return row
  }
}
