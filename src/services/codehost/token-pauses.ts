import { createHash } from 'node:crypto'
import type { HostAccess } from '../../clients/codehost.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'

/** The code host limits the requests of a token, whoever sends them: all wait then, on all instances. */
export function tokenPauses({ repos }: { repos: Repositories }) {
  const { codehostWriteLimits } = repos.within(everywhere)
  return {
    /** How long requests with it have to wait, in milliseconds; 0 if they don't. */
    remaining: (access: HostAccess): Promise<number> => codehostWriteLimits.pauseOf(tokenKeyOf(access)),

    /** For a limit that was refused `now`: returns how long it lasts, in milliseconds. */
    async pause(access: HostAccess, { now, retryAt }: { now: Date; retryAt: Date }): Promise<number> {
      const forMs = retryAt.getTime() - now.getTime()
      await codehostWriteLimits.pause(tokenKeyOf(access), forMs)
      return forMs
    },
  }
}

export type TokenPauses = ReturnType<typeof tokenPauses>

/** The same for all connections with this token or installation. */
export function tokenKeyOf({ apiUrl, token, app }: HostAccess): string {
  const identity = app ? `app ${app.appId} ${app.installationId}` : `token ${token}`
  return createHash('sha256').update(`${apiUrl} ${identity}`).digest('hex')
}
