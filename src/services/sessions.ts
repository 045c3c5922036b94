import { orderById } from '../domain/cursor.ts'
import { allows } from '../domain/key-strength.ts'
import type { Operations } from '../domain/operation.ts'
import { hashOf } from '../domain/secret.ts'
import { insufficientScope, sessionNotFound } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import { onlyProjectOf, type Repositories } from '../repositories/index.ts'
import type { KeyRow } from '../repositories/keys.ts'
import type { SessionRow } from '../repositories/sessions.ts'
import type { Session } from '../schemas/session.ts'
import { type AccessService, type Caller, earliest, type KeyCaller, SESSION_IDLE_MS } from './access.ts'
import { changeLog } from './activity/row.ts'
import { readPage } from './page.ts'

interface SessionsDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
}

export const sessionOperations = {
  list: { scope: 'any' },
  end: { scope: 'any' },
  endAll: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof sessionsService>>

/** Dashboard sessions. A caller manages those of its own key; an administrator all in reach. */
export function sessionsService({ repos, access, clock, randomBytes }: SessionsDeps) {
  const record = changeLog(clock)

  return {
    /** Opens a session for the caller's key. The token goes into the cookie and nowhere else. */
    async open(
      caller: KeyCaller,
      userAgent: string | undefined,
    ): Promise<{ session: Session; token: string }> {
      const now = clock.now()
      const token = randomBytes(32).toString('base64url')
      const row: SessionRow = {
        id: clock.newId(now),
        hash: hashOf(token),
        keyId: caller.principal.id,
        secretHash: caller.secretHash,
        userAgent: userAgent?.slice(0, 500) ?? null,
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
      return {
        session: toSession(row, { key: { ...caller, projectId: onlyProjectOf(caller) }, currentId: row.id }),
        token,
      }
    },

    async list(caller: Caller, request: { limit?: number; cursor?: string }) {
      const now = clock.now()
      const seenSince = new Date(now.getTime() - SESSION_IDLE_MS)
      const keyId = allows(caller.scopes, 'admin') ? undefined : caller.principal.id
      return readPage({
        order: orderById('sessions'),
        request,
        async read(after, limit) {
          const rows = await repos.within(caller).sessions.list({ keyId, seenSince, now, after, limit })
          return rows.map((row) => {
            const expiresAt = earliest(row.key.expiresAt, row.secretExpiresAt)
            return toSession(row, { key: { ...row.key, expiresAt }, currentId: caller.id })
          })
        },
      })
    },

    /** @throws session_not_found */
    async end(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const row = await repos.sessions.find(id)
        const mayEnd = row?.keyId === caller.principal.id || allows(caller.scopes, 'admin')
        if (!row || !mayEnd || !(await repos.sessions.delete(id))) throw sessionNotFound(id)
        const about = { sessionId: row.id, keyId: row.keyId, keyName: row.key.name }
        await record(repos, {
          type: 'session.ended',
          caller,
          projectId: row.key.projectId,
          now: clock.now(),
          metadata: about,
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

/** A session ends with its key, or with the secret that opened it, at the latest. */
const sessionEnd = (session: Pick<SessionRow, 'lastSeenAt'>, key: { expiresAt: Date | null }) =>
  new Date(
    Math.min(
      session.lastSeenAt.getTime() + SESSION_IDLE_MS,
      key.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    ),
  )

const toSession = (
  row: SessionRow,
  {
    key,
    currentId,
  }: {
    key: Pick<KeyRow, 'name' | 'scopes' | 'projectId' | 'expiresAt'>
    currentId: string
  },
): Session => ({
  id: row.id,
  keyId: row.keyId,
  name: key.name,
  scopes: key.scopes as Session['scopes'],
  projectId: key.projectId,
  userAgent: row.userAgent,
  isCurrent: row.id === currentId,
  createdAt: row.createdAt.toISOString(),
  lastSeenAt: row.lastSeenAt.toISOString(),
  expiresAt: sessionEnd(row, key).toISOString(),
})
