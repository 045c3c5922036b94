import { violates } from '../../db/database-error.ts'
import { and, asc, eq, gt, isNull, ne, or, sql } from '../../db/drizzle.ts'
import { passwords, users } from '../../db/tables/people.ts'
import { usernameTaken } from '../../errors/index.ts'
import { announceAccessChange } from '../access-changes.ts'
import type { Executor } from '../index.ts'
import { writeLastUsed } from '../last-used.ts'
import type { Reach } from '../reach.ts'

export type UserRow = typeof users.$inferSelect

const RIGHTS_LOCK = 0x1a5_7ae

interface UserFilter {
  role?: UserRow['role'] | undefined
  isActive?: boolean | undefined
  /** The id at the end of the previous page. */
  after: string | undefined
  limit: number
}

/** People, and their passwords. */
export function usersRepository(db: Executor, { projectIds }: Reach) {
  return {
    /** @throws username_taken */
    async insert(user: UserRow): Promise<void> {
      try {
        await db.insert(users).values(user)
      } catch (error) {
        if (violates(error, 'users_username_unique')) throw usernameTaken(user.username)
        throw error
      }
    },

    /** Returns false if the username is taken. */
    async insertUnlessTaken(user: UserRow): Promise<boolean> {
      const { rowCount } = await db.insert(users).values(user).onConflictDoNothing({ target: users.username })
      return rowCount === 1
    },

    /** Oldest first. */
    async list({ role, isActive, after, limit }: UserFilter): Promise<UserRow[]> {
      return db
        .select()
        .from(users)
        .where(
          and(
            role && eq(users.role, role),
            isActive === undefined ? undefined : eq(users.isActive, isActive),
            after ? gt(users.id, after) : undefined,
          ),
        )
        .orderBy(asc(users.id))
        .limit(limit)
    },

    /** Active people who share a project with the reach, oldest first. */
    async listSharing({ after, limit }: Pick<UserFilter, 'after' | 'limit'>): Promise<UserRow[]> {
      const isShared =
        projectIds === null
          ? undefined
          : or(isNull(users.projectIds), sql`${users.projectIds} && ${sql.param(projectIds)}::uuid[]`)
      return db
        .select()
        .from(users)
        .where(and(eq(users.isActive, true), isShared, after ? gt(users.id, after) : undefined))
        .orderBy(asc(users.id))
        .limit(limit)
    },

    async find(id: string): Promise<UserRow | undefined> {
      const [row] = await db.select().from(users).where(eq(users.id, id))
      return row
    },

    async findByUsername(username: string): Promise<UserRow | undefined> {
      const [row] = await db.select().from(users).where(eq(users.username, username))
      return row
    },

    /** Locks a person: no session of theirs is opened until the transaction ends. */
    async findForUpdate(id: string): Promise<UserRow | undefined> {
      const [row] = await db.select().from(users).where(eq(users.id, id)).for('update')
      return row
    },

    /** Locks a person against changes. */
    async findForShare(id: string): Promise<UserRow | undefined> {
      const [row] = await db.select().from(users).where(eq(users.id, id)).for('share')
      return row
    },

    /** Changes of rights take turns, so that two owners cannot demote each other. To be called before other locks. */
    async lockRights(): Promise<void> {
      await db.execute(sql`select pg_advisory_xact_lock(${RIGHTS_LOCK})`)
    },

    async isAnotherOwner(id: string): Promise<boolean> {
      const rows = await db
        .select({ id: users.id })
        .from(users)
        .where(and(ne(users.id, id), eq(users.role, 'owner'), eq(users.isActive, true)))
        .limit(1)
      return rows.length > 0
    },

    /** Changes a name or an address, which need not be known at once. */
    async rename(id: string, change: Partial<Pick<UserRow, 'name' | 'email'>>): Promise<void> {
      await db.update(users).set(change).where(eq(users.id, id))
    },

    /** Changes what a person may do, and announces it to all instances. */
    async update(id: string, change: Partial<Omit<UserRow, 'id' | 'username'>>): Promise<void> {
      await db.update(users).set(change).where(eq(users.id, id))
      await announceAccessChange(db)
    },

    async findPasswordHash(userId: string): Promise<string | undefined> {
      const [row] = await db
        .select({ hash: passwords.hash })
        .from(passwords)
        .where(eq(passwords.userId, userId))
      return row?.hash
    },

    async setPassword(userId: string, hash: string): Promise<void> {
      await db
        .insert(passwords)
        .values({ userId, hash })
        .onConflictDoUpdate({ target: passwords.userId, set: { hash } })
    },

    async deletePassword(userId: string): Promise<void> {
      await db.delete(passwords).where(eq(passwords.userId, userId))
    },
  }
}

/** Authentication of people, outside any reach. */
export function userCredentials(db: Executor) {
  return {
    /** Whether anybody has an account. */
    async areAny(): Promise<boolean> {
      return (await db.select({ id: users.id }).from(users).limit(1)).length > 0
    },

    /** The active person with this username and a password. */
    async findWithPassword(username: string): Promise<{ user: UserRow; passwordHash: string } | undefined> {
      const [row] = await db
        .select({ user: users, passwordHash: passwords.hash })
        .from(users)
        .innerJoin(passwords, eq(passwords.userId, users.id))
        .where(and(eq(users.username, username), eq(users.isActive, true)))
      return row
    },

    touch: (seen: Map<string, Date>) => writeLastUsed(db, { table: users, column: 'lastSeenAt', used: seen }),
  }
}
