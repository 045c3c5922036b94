import type { CodeHost } from '../../clients/codehost.ts'
import {
  type DropReason,
  isAccepted,
  isKept,
  judgeDelivery,
  type PushReading,
} from '../../domain/codehost/delivery.ts'
import type { Unsealed } from '../../domain/token-seal.ts'
import { invalidSignature, secretUnreadable } from '../../errors/index.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import { newDelivery } from '../../repositories/deliveries/store.ts'
import { everywhere } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import { isUuid } from '../../schemas/formats.ts'
import { SECRET_UNREADABLE } from '../codehost/failures.ts'
import type { TokenVault } from '../codehost/token.ts'
import { type ApplyingDeps, deliveryApplier } from './applying.ts'
import { measuredAs, pushPipe } from './settling.ts'

export type PushService = ReturnType<typeof pushService>

/** The connection that a delivery is for, and the secrets that it may be signed with. */
export interface PushTarget {
  connection: Pick<ConnectionRow, 'id' | 'projectId' | 'repositoryId' | 'comments'>
  secrets: Unsealed
}

/** A verified delivery. */
export interface PushedDelivery {
  /** The host's id: the same for a redelivery. */
  deliveryId: string
  event: string
  reading: PushReading
  payload: Buffer
}

interface PushDeps extends Omit<ApplyingDeps, 'host' | 'vault'> {
  host: ApplyingDeps['host'] & Pick<CodeHost, 'isSignedWith'>
  vault: ApplyingDeps['vault'] & Pick<TokenVault, 'webhookSecretsOf'>
}

/** The push receiver: stores what the code host reports, which a job applies. */
export function pushService({ repos, clock, host, vault, metrics, pipes, logFailure }: PushDeps) {
  const { pushedDeliveries } = repos.within(everywhere)
  let onReceived = () => {}

  return {
    /** Wakes the worker of this instance after a delivery was stored. */
    wake: () => onReceived(),

    onReceived(listener: () => void): void {
      onReceived = listener
    },

    /** Whether deliveries of an event are applied; others are ignored. */
    accepts: (event: string): boolean => isAccepted(event),

    /** Undefined if there is no such connection, or it has no secret. */
    async findTarget(connectionId: string): Promise<PushTarget | undefined> {
      const connection = isUuid(connectionId)
        ? await pushedDeliveries.findConnection(connectionId)
        : undefined
      if (!connection) return undefined
      const secrets = vault.webhookSecretsOf(connection, clock.now())
      if (secrets.texts.length === 0 && secrets.isComplete) return undefined
      const { id, projectId, repositoryId, comments } = connection
      return { connection: { id, projectId, repositoryId, comments }, secrets }
    },

    /** `applyDue` applies stored deliveries, a batch of each connection, and returns whether there may be more. */
    ...deliveryApplier({ repos, clock, host, vault, metrics, pipes, logFailure }),

    /** @throws unavailable if it may be signed with a secret that cannot be decrypted */
    async isSigned(
      { connection: { projectId, id }, secrets }: PushTarget,
      delivery: { body: Buffer; signature: string },
    ): Promise<boolean> {
      if (await host.isSignedWith(secrets.texts, delivery)) return true
      if (secrets.isComplete) return false
      const about = { code: SECRET_UNREADABLE, projectId, connectionId: id }
      logFailure?.(about, 'delivery of the code host failed')
      throw secretUnreadable()
    },

    /**
     * Stores a delivery; returns after the commit. A redelivery does nothing.
     * @throws invalid_credentials if the repository was disconnected meanwhile
     */
    async receive(
      { connection }: PushTarget,
      { deliveryId, event, reading, payload }: PushedDelivery,
    ): Promise<{ accepted: boolean; duplicate: boolean; reason: DropReason | null }> {
      const now = clock.now()
      const { outcome, reason } = judgeDelivery({ event, reading }, connection)
      const isOfOther = reason === 'other_repository'
      const row = newDelivery({
        id: clock.newId(now),
        receiver: 'codehost',
        connectionId: connection.id,
        projectId: connection.projectId,
        dedupKey: `${connection.id} ${deliveryId}`,
        senderId: deliveryId,
        event,
        action: reading.action,
        number: isOfOther ? null : reading.number,
        commentId: isOfOther ? null : reading.commentId,
        outcome,
        reason,
        payload: isKept(reason) ? payload.toString() : null,
        receivedAt: now,
      })
      const stored = await redacted(() => pushedDeliveries.insert(row))
      if (stored === 'disconnected') throw invalidSignature()
      metrics.pushed(stored === 'known' ? 'duplicate' : 'received')
      if (stored === 'stored' && outcome !== 'pending') {
        metrics.pushed(measuredAs(outcome))
        pipes.succeeded(pushPipe(connection.id))
      }
      return { accepted: outcome !== 'ignored', duplicate: stored === 'known', reason }
    },
  }
}
