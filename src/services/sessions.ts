import { orderById } from '../domain/cursor.ts'
import { allows, maySignIn } from '../domain/key-strength.ts'
import type { Operations } from '../domain/operation.ts'
import { scopesOf } from '../domain/people.ts'
import { hashOf } from '../domain/secret.ts'
import {
  insufficientScope,
  invalidPasskey,
  invalidPassword,
  personalKey,
  sessionNotFound,
} from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import {
  type BoundRepositories,
  everywhere,
  onlyProjectOf,
  type Repositories,
} from '../repositories/index.ts'
import type { UserRow } from '../repositories/people/users.ts'
import type { SessionHolder, SessionRow, SessionWithHolder } from '../repositories/sessions.ts'
import type { Scope } from '../schemas/caller.ts'
import type { Session, SwitchedWays } from '../schemas/session.ts'
import {
  type AccessService,
  type Caller,
  earliest,
  type KeyCaller,
  type Principal,
  projectIdsOf,
  SESSION_IDLE_MS,
} from './access.ts'
import { activityRow, actorOfUser, changeLog } from './activity/row.ts'
import { readPage } from './page.ts'

interface SessionsDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
  ways: Pick<SwitchedWays, 'keys'>
}

type SessionSources = Pick<SessionsDeps, 'clock' | 'randomBytes'>

/** A session that was just opened. The token goes into the cookie and nowhere else. */
export interface OpenedSession {
  session: Session
  token: string
}

/** A passkey that has signed a challenge. */
export interface UsedPasskey {
  id: string
  user: UserRow
  /** What its authenticator counts now. */
  counter: number
}

interface SignIn {
  /** Of the person. */
  id: string
  /** What the password was compared with. */
  passwordHash: string
  userAgent: string | undefined
}

export const sessionOperations = {
  list: { scope: 'any' },
  end: { scope: 'any' },
  endAll: { scope: 'admin', changesSecrets: true },
} satisfies Operations<ReturnType<typeof sessionsService>>

const DAY_MS = 86_400_000
/** The database ends them; these tell when. */
const USER_IDLE_MS = 7 * DAY_MS
const USER_MAX_MS = 30 * DAY_MS

interface NewSession {
  now: Date
  userAgent: string | undefined
}

/** What each session begins with, and its token, of which only the hash is stored. */
function newSession({ clock, randomBytes }: SessionSources, { now, userAgent }: NewSession) {
  const token = randomBytes(32).toString('base64url')
  return {
    id: clock.newId(now),
    hash: hashOf(token),
    userAgent: userAgent?.slice(0, 500) ?? null,
    token,
  }
}

/** Returns a function that opens the session of a person, in a transaction. */
export function openSessionOf({ clock, randomBytes }: SessionSources) {
  return async function openSession(
    repos: BoundRepositories,
    { user, userAgent }: { user: UserRow; userAgent: string | undefined },
  ): Promise<OpenedSession> {
    const now = clock.now()
    const { token, ...session } = newSession({ clock, randomBytes }, { now, userAgent })
    const row = await repos.sessions.insertOfUser({ ...session, userId: user.id })
    const actor = actorOfUser(user)
    const metadata = { sessionId: row.id, userId: user.id }
    await repos.activity.insert([activityRow(clock, { now, type: 'session.created', actor, metadata })])
    return { session: ofUser(row, { user, currentId: row.id }), token }
  }
}

/** Dashboard sessions. Callers manage their own; an administrator all in reach. */
export function sessionsService({ repos, access, clock, randomBytes, ways }: SessionsDeps) {
  const record = changeLog(clock)
  const openSession = openSessionOf({ clock, randomBytes })

  return {
    /**
     * Opens a session for the caller's key.
     * @throws personal_key, insufficient_scope if only admin keys can sign in
     */
    async open(caller: KeyCaller, userAgent: string | undefined): Promise<OpenedSession> {
      if (caller.principal.type === 'user') throw personalKey()
      if (!maySignIn(caller.scopes, ways.keys)) throw insufficientScope('admin')
      const now = clock.now()
      const { token, ...session } = newSession({ clock, randomBytes }, { now, userAgent })
      const row = {
        ...session,
        keyId: caller.principal.id,
        secretHash: caller.secretHash,
        createdAt: now,
        lastSeenAt: now,
      }
      await repos.within(caller).transaction(async (repos) => {
        await repos.sessions.insert(row)
        await record(repos, {
          type: 'session.created',
          caller,
          projectId: onlyProjectOf(caller),
          now,
          metadata: {
            sessionId: row.id,
            keyId: row.keyId,
          },
        })
      })
      return { session: ofKey({ ...row, userId: null }, { key: caller, currentId: row.id }), token }
    },

    /**
     * Opens a session for a person whose password was right.
     * @throws invalid_credentials if the person was deactivated, or got another password, while it was compared
     */
    async openOfUser({ id, passwordHash, userAgent }: SignIn): Promise<OpenedSession> {
      return repos.within(everywhere).transaction(async (repos) => {
        const user = await repos.users.findForShare(id)
        const isCurrent = (await repos.users.findPasswordHash(id)) === passwordHash
        if (!user?.isActive || !isCurrent) throw invalidPassword()
        return openSession(repos, { user, userAgent })
      })
    },

    /**
     * Opens a session for a person whose passkey was right.
     * @throws invalid_credentials if the person was deactivated, or the passkey removed or used, meanwhile
     */
    async openByPasskey(used: UsedPasskey, userAgent: string | undefined): Promise<OpenedSession> {
      return repos.within(everywhere).transaction(async (repos) => {
        const user = await repos.users.findForShare(used.user.id)
        const now = clock.now()
        const isUsed = user?.isActive && (await repos.passkeys.use(used.id, { counter: used.counter, now }))
        if (!user || !isUsed) throw invalidPasskey()
        return openSession(repos, { user, userAgent })
      })
    },

    async list(caller: Caller, request: { limit?: number; cursor?: string }) {
      const now = clock.now()
      const seenSince = new Date(now.getTime() - SESSION_IDLE_MS)
      const holder = allows(caller.scopes, 'admin') ? undefined : holderOf(caller.principal)
      return readPage({
        order: orderById('sessions'),
        request,
        async read(after, limit) {
          const rows = await repos.within(caller).sessions.list({ holder, seenSince, now, after, limit })
          return rows.map((row) => toSession(row, caller.id))
        },
      })
    },

    /** @throws session_not_found */
    async end(caller: Caller, id: string): Promise<void> {
      const { principal } = caller
      await repos.within(caller).transaction(async (repos) => {
        const row = await repos.sessions.find(id, principal.type === 'user' ? principal.id : undefined)
        // A personal key signs nobody out.
        const isHolder = principal.type === 'key' || caller.channel === 'dashboard'
        const isOwn = isHolder && row !== undefined && [row.keyId, row.userId].includes(principal.id)
        const mayEnd = isOwn || allows(caller.scopes, 'admin')
        if (!row || !mayEnd || !(await repos.sessions.delete(id))) throw sessionNotFound(id)
        await record(repos, {
          type: 'session.ended',
          caller,
          projectId: row.key?.projectId ?? null,
          now: clock.now(),
          metadata: { sessionId: row.id, ...aboutHolder(row) },
        })
      })
      access.forget()
    },

    /**
     * Ends all sessions in reach.
     * @throws insufficient_scope
     */
    async endAll(caller: Caller): Promise<void> {
      if (!allows(caller.scopes, 'admin')) throw insufficientScope('admin')
      await repos.within(caller).transaction(async (repos) => {
        const count = await repos.sessions.deleteAll()
        if (count === 0) return
        await record(repos, {
          type: 'session.ended',
          caller,
          projectId: onlyProjectOf(caller),
          now: clock.now(),
          metadata: { all: true, count },
        })
      })
      access.forget()
    },
  }
}

const holderOf = ({ type, id }: Principal): SessionHolder =>
  type === 'user' ? { userId: id } : { keyId: id }

const aboutHolder = ({ keyId, key, userId, user }: SessionWithHolder) =>
  user ? { userId, username: user.username } : { keyId, keyName: key?.name }

function toSession({ key, user, secretExpiresAt, ...row }: SessionWithHolder, currentId: string): Session {
  if (user) return ofUser(row, { user, currentId })
  const expiresAt = earliest(key?.expiresAt ?? null, secretExpiresAt)
  const scopes = (key?.scopes ?? []) as Scope[]
  const holder = {
    name: key?.name ?? '',
    scopes,
    projectIds: projectIdsOf(key?.projectId ?? null),
    expiresAt,
  }
  return ofKey(row, { key: holder, currentId })
}

interface OfKey {
  key: Pick<Caller, 'name' | 'scopes' | 'projectIds' | 'expiresAt'>
  currentId: string
}

/** A session of a key ends with its key, or with the secret that opened it, at the latest. */
const ofKey = (row: SessionRow, { key, currentId }: OfKey): Session => ({
  ...shown(row, currentId),
  name: key.name,
  scopes: key.scopes,
  projectIds: copyOf(key.projectIds),
  expiresAt: firstOf(row.lastSeenAt.getTime() + SESSION_IDLE_MS, key.expiresAt?.getTime()),
})

const ofUser = (row: SessionRow, { user, currentId }: { user: UserRow; currentId: string }): Session => ({
  ...shown(row, currentId),
  name: user.name,
  scopes: scopesOf(user.role),
  projectIds: user.projectIds,
  expiresAt: firstOf(row.lastSeenAt.getTime() + USER_IDLE_MS, row.createdAt.getTime() + USER_MAX_MS),
})

const firstOf = (...times: (number | undefined)[]): string =>
  new Date(Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY))).toISOString()

const copyOf = (ids: readonly string[] | null): string[] | null => (ids === null ? null : [...ids])

const shown = (row: SessionRow, currentId: string) => ({
  id: row.id,
  keyId: row.keyId,
  userId: row.userId,
  userAgent: row.userAgent,
  isCurrent: row.id === currentId,
  createdAt: row.createdAt.toISOString(),
  lastSeenAt: row.lastSeenAt.toISOString(),
})
