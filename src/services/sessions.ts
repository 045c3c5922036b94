import { allows } from '../domain/key-strength.ts'
import { hashOf } from '../domain/secret.ts'
import { insufficientScope, sessionNotFound } from '../errors.ts'
import type { Repositories } from '../repositories/index.ts'
import type { SessionRow } from '../repositories/sessions.ts'
import type { Session } from '../schemas/session.ts'
import { type AccessService, type Caller, SESSION_IDLE_MS } from './access.ts'
import type { Clock } from './clock.ts'
import { pageOf } from './page.ts'

interface SessionsDeps {
  repos: Repositories
  access: Pick<AccessService, 'forget'>
  clock: Clock
  randomBytes(size: number): Buffer
}

/** Dashboard sessions: any caller lists and ends those of its own key; an administrator those in reach. */
export function sessionsService({ repos, access, clock, randomBytes }: SessionsDeps) {
  return {
    /** Opens a session for who came with a key; the token goes into the cookie and nowhere else. */
    async open(caller: Caller, userAgent: string | undefined): Promise<{ session: Session; token: string }> {
      const now = clock.now()
      const token = randomBytes(32).toString('base64url')
      const row: SessionRow = {
        id: clock.newId(now),
        hash: hashOf(token),
        keyId: caller.keyId,
        userAgent: userAgent?.slice(0, 500) ?? null,
        createdAt: now,
        lastSeenAt: now,
      }
      await repos.within(caller).sessions.insert(row)
      return { session: toSession(row, caller, row.id), token }
    },

    async list(caller: Caller, page: { limit?: number; cursor?: string }) {
      const seenSince = new Date(clock.now().getTime() - SESSION_IDLE_MS)
      const keyId = allows(caller.scopes, 'admin') ? undefined : caller.keyId
      return pageOf('sessions', page, async (after, limit) =>
        (await repos.within(caller).sessions.list({ keyId, seenSince, after, limit })).map((row) =>
          toSession(row, { ...caller, ...row.key }, caller.id),
        ),
      )
    },

    async end(caller: Caller, id: string): Promise<void> {
      const { sessions } = repos.within(caller)
      const row = await sessions.find(id)
      const mayEnd = row?.keyId === caller.keyId || allows(caller.scopes, 'admin')
      if (!row || !mayEnd) throw sessionNotFound(id)
      await sessions.delete(id)
      access.forget()
    },

    /** Signs everybody in reach out. */
    async endAll(caller: Caller): Promise<void> {
      if (!allows(caller.scopes, 'admin')) throw insufficientScope('admin')
      await repos.within(caller).sessions.deleteAll()
      access.forget()
    },
  }
}

/** Nothing lasts longer than the key it was opened with. */
const sessionEnd = (session: Pick<SessionRow, 'lastSeenAt'>, key: { expiresAt: Date | null }) =>
  new Date(
    Math.min(
      session.lastSeenAt.getTime() + SESSION_IDLE_MS,
      key.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
    ),
  )

const toSession = (
  row: SessionRow,
  key: { name: string; scopes: string[]; projectId: string | null; expiresAt: Date | null },
  currentId: string,
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
