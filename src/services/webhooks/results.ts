import { setTimeout as sleep } from 'node:timers/promises'
import { retryDelayMs } from '../../domain/webhooks.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import { everywhere } from '../../repositories/index.ts'
import type { Attempt, WebhookLease } from '../../repositories/webhooks/queue.ts'
import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import { activityRow, SERVICE } from '../activity/row.ts'
import type { Sequencer } from '../activity/sequencer.ts'
import { about } from './index.ts'

interface ResultsDeps {
  repos: Repositories
  clock: Clock
  sequencer: Pick<Sequencer, 'catchUp'>
}

/** The webhook as it was when the attempt began, and the lease to send to it. */
interface Sent {
  webhook: WebhookRow
  lease: WebhookLease
}

/** Successes of one webhook, in their order. */
interface Sequence {
  /** One could not be stored. It will be sent again, and those after it have to follow it. */
  isBroken: boolean
}

/** At the least, from a retry by hand that failed to the attempt that was scheduled. */
const AFTER_RETRY_MS = 5_000

const MAX_BATCH = 500
/** From one batch to the next: a statement for each few results would cost as much as sending them. */
const BATCH_MS = 5

/** Stores what attempts ended with. What is not stored is sent again. */
export function webhookResults({ repos, clock, sequencer }: ResultsDeps) {
  const storeAll = batcher<{ ended: Attempt; sequence: Sequence }, boolean>(
    async (inputs) => {
      const storable = inputs.filter(({ sequence }) => !sequence.isBroken)
      // Until they are stored.
      for (const { sequence } of storable) sequence.isBroken = true
      const attempts = storable.map(({ ended }) => ended)
      const [stored] = await Promise.all([repos.webhookQueue.record(attempts), sleep(BATCH_MS)])
      for (const { ended, sequence } of storable) sequence.isBroken = !stored.has(ended.webhookId)
      return inputs.map(({ sequence }) => !sequence.isBroken)
    },
    // One batch after another: of results in order, a later one is never stored without those before it.
    {
      name: 'store attempts',
      maxItems: MAX_BATCH,
      concurrency: 1,
      maxBytes: 1,
      bytesOf: () => 0,
      isForAll: () => true,
    },
  )

  return {
    /**
     * Returns a function that stores successes of a webhook, together with those of others. It resolves to whether it did:
     * not while the webhook is being deleted, and nothing after a success that could not be stored.
     */
    inSequence(): (ended: Attempt) => Promise<boolean> {
      const sequence = { isBroken: false }
      return (ended) => storeAll({ ended, sequence })
    },

    /** The first success after failures. */
    async storeRecovery(ended: Attempt, { webhook, lease }: Sent): Promise<void> {
      await repos.transaction(async ({ webhookQueue }) => {
        await webhookQueue.noteSuccess(lease, webhook)
        await webhookQueue.record([ended])
      })
    },

    /** Returns why the webhook was switched off, if it was. */
    async storeFailure(ended: Attempt, { webhook, lease }: Sent): Promise<'failed' | 'gone' | undefined> {
      const { projectId } = webhook
      const isByHand = webhook.scheduledAttemptAt !== null
      const delayMs = isByHand ? AFTER_RETRY_MS : retryDelayMs(webhook.failures)
      const isGone = ended.responseStatus === 410
      if (delayMs !== undefined && !isGone) {
        await repos.transaction(async ({ webhookQueue }) => {
          const { noteFailedRetry, noteFailure } = webhookQueue
          await (isByHand ? noteFailedRetry : noteFailure)(lease, { webhook, delayMs })
          await webhookQueue.record([ended])
        })
        return undefined
      }
      const reason = isGone ? 'gone' : 'failed'
      const { end } = await sequencer.catchUp()
      return repos.transaction(async (repos) => {
        const { webhookQueue } = repos
        const { position } = end
        const isOff = await webhookQueue.switchOff(lease, { webhook, reason, position })
        await webhookQueue.record([ended])
        if (!isOff) return undefined
        const metadata = { ...about(webhook), reason }
        const type = 'webhook.disabled'
        const row = activityRow(clock, { now: clock.now(), type, actor: SERVICE, projectId, metadata })
        await repos.within(everywhere).activity.insert([row])
        return reason
      })
    },
  }
}
