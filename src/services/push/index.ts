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
import type { NewDelivery } from '../../repositories/codehost/new-deliveries.ts'
import { everywhere } from '../../repositories/index.ts'
import { redacted } from '../../repositories/redacted.ts'
import { isUuid } from '../../schemas/formats.ts'
import { SECRET_UNREADABLE } from '../codehost/failures.ts'
import type { TokenVault } from '../codehost/token.ts'
import { type ApplyingDeps, deliveryApplier } from './applying.ts'

export type PushService = ReturnType<typeof pushService>

/** The connection that a delivery is for, and the secrets that it may be signed with. */
export interface PushTarget {
  connection: Pick<ConnectionRow, 'id' | 'projectId' | 'repositoryId' | 'comments'>
  secrets: Unsealed
}

/** A verified delivery. */
export interface Delivery {
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
export function pushService({ repos, clock, host, vault, metrics, logFailure }: PushDeps) {
  const { deliveries } = repos.within(everywhere)
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
      const connection = isUuid(connectionId) ? await deliveries.findConnection(connectionId) : undefined
      if (!connection) return undefined
      const secrets = vault.webhookSecretsOf(connection, clock.now())
      if (secrets.texts.length === 0 && secrets.isComplete) return undefined
      const { id, projectId, repositoryId, comments } = connection
      return { connection: { id, projectId, repositoryId, comments }, secrets }
    },

    /** `applyDue` applies stored deliveries, a batch of each connection, and returns whether there may be more. */
    ...deliveryApplier({ repos, clock, host, vault, metrics, logFailure }),

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
      { deliveryId, event, reading, payload }: Delivery,
    ): Promise<{ accepted: boolean; duplicate: boolean; reason: DropReason | null }> {
      const now = clock.now()
      const { status, reason } = judgeDelivery({ event, reading }, connection)
      const isOfOther = reason === 'other_repository'
      const row: NewDelivery = {
        connectionId: connection.id,
        deliveryId,
        id: clock.newId(now),
        event,
        action: reading.action,
        number: isOfOther ? null : reading.number,
        commentId: isOfOther ? null : reading.commentId,
        status,
        reason,
        attempts: 0,
        payload: isKept(reason) ? payload : null,
        payloadBytes: payload.length,
        receivedAt: now,
        appliedAt: status === 'applied' ? now : null,
        taskId: null,
      }
      const outcome = await redacted(() => deliveries.insert(row))
      if (outcome === 'disconnected') throw invalidSignature()
      metrics.pushed(outcome === 'known' ? 'duplicate' : 'received')
      if (outcome === 'stored' && status !== 'received') metrics.pushed(status)
      return { accepted: status !== 'dropped', duplicate: outcome === 'known', reason }
    },
  }
}
