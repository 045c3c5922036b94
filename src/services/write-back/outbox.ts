import type { HostAccess } from '../../clients/codehost.ts'
import { traced, type Work } from '../../lib/traced.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { TokenLease } from '../../repositories/codehost/write-limits.ts'
import { everywhere } from '../../repositories/index.ts'
import type { TokenVault } from '../codehost/token.ts'
import { tokenKeyOf } from '../codehost/token-pauses.ts'
import { withLease } from '../leases.ts'
import { LEASE_MS, type SendingDeps, writeSender } from './sending.ts'

export type OutboxService = ReturnType<typeof outboxService>

export interface OutboxDeps extends SendingDeps {
  vault: Pick<TokenVault, 'accessOf'>
}

/** The code host takes no longer for a request. */
const ARRIVAL_MS = 15_000

const RENEW_MS = 30_000

/** Connections that write with the same token, and how. */
interface Writers {
  access: HostAccess
  connections: Map<string, ConnectionRow>
}

/** Writes to the code host what was changed here. Instances may do so at the same time: each write is leased. */
export function outboxService(deps: OutboxDeps) {
  const { repos, vault } = deps
  const { codehostWrites, codehostWriteLimits } = repos.within(everywhere)
  const send = writeSender(deps)
  let onQueued = () => {}

  return {
    /** Wakes the worker of this instance. */
    wake: () => onQueued(),

    onQueued(listener: () => void): void {
      onQueued = listener
    },

    /** Sends writes that are due, those of each token one after another. Returns whether there may be more. */
    async sendDue(signal: AbortSignal): Promise<boolean> {
      const due = await codehostWrites.listDueConnections()
      const writers = new Map<string, Writers>()
      for (const connection of due) {
        const access = vault.accessOf(connection)
        if ('code' in access) {
          await send.refuseAll(connection, { error: access, leaseMs: LEASE_MS })
          continue
        }
        const tokenKey = tokenKeyOf(access)
        const same = writers.get(tokenKey) ?? { access, connections: new Map() }
        same.connections.set(connection.id, connection)
        writers.set(tokenKey, same)
      }
      const sent = await Promise.allSettled(
        [...writers].map(([tokenKey, { access, connections }]) =>
          sendAll(tokenKey, { access, connections, signal }),
        ),
      )
      const failed = sent.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
      return sent.some((each) => each.status === 'fulfilled' && each.value)
    },
  }

  /**
   * Until there is none, or the token has to wait, or another instance has it: it continues. Returns whether it sent any.
   */
  async function sendAll(tokenKey: string, writers: Writers & { signal: AbortSignal }): Promise<boolean> {
    for (let isAny = false; ; isAny = true) {
      const lease = writers.signal.aborted ? undefined : await codehostWriteLimits.take(tokenKey, LEASE_MS)
      if (!lease) return false
      const sent = await sendNext(lease, writers)
      if (sent === 'nothing') return isAny
      if (sent === 'paused') return false
    }
  }

  async function sendNext(
    lease: TokenLease,
    { access, connections, signal }: Writers & { signal: AbortSignal },
  ): Promise<'one' | 'nothing' | 'paused'> {
    const taken = {
      renew: () => codehostWriteLimits.renew(lease, LEASE_MS),
      release: (afterMs: number) => codehostWriteLimits.release(lease, afterMs),
      renewMs: RENEW_MS,
    }
    return withLease(taken, async ({ signal: lost, release }) => {
      let afterMs = 0
      try {
        const write = await codehostWrites.claim({
          connectionIds: [...connections.keys()],
          leaseMs: LEASE_MS,
        })
        const connection = write && connections.get(write.connectionId)
        if (!connection) return 'nothing'
        const sending = { connection, access, lease, signal: AbortSignal.any([signal, lost]) }
        const { isPaused, mayArrive } = await traced(jobOf(write), () => send.one(write, sending))
        if (mayArrive) afterMs = ARRIVAL_MS
        return isPaused ? 'paused' : 'one'
      } finally {
        await release(afterMs)
      }
    })
  }
}

const jobOf = ({ connectionId }: { connectionId: string }): Work => ({
  name: 'write back',
  kind: 'job',
  attributes: { 'inlet.connection.id': connectionId },
})
