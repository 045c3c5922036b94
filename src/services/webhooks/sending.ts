import { isDeepStrictEqual } from 'node:util'
import { inOrder } from '../../lib/in-order.ts'
import { traced } from '../../lib/traced.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { WaitingDelivery, WebhookLease } from '../../repositories/webhooks/queue.ts'
import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import { toActivity } from '../activity/view.ts'
import { withLease } from '../leases.ts'
import type { PipeRecorder, Recorder } from '../recorder.ts'
import { type AttemptDeps, noteAttempt, webhookAttempts } from './attempt.ts'
import { webhookResults } from './results.ts'

type SendingDeps = AttemptDeps &
  Parameters<typeof webhookResults>[0] & {
    repos: Repositories
    metrics: Pick<Recorder, 'sentToWebhook'>
    pipes: PipeRecorder
  }

/** What the worker logs. */
interface SendingListener {
  onError(error: unknown, webhookId: string): void
  onSwitchedOff(webhookId: string, reason: 'failed' | 'gone'): void
}

/** Sending to one webhook. */
interface Run {
  /** The webhook may have been changed. */
  restart(): void
  /** More may have been written. */
  readOn(): void
}

/** Requests to one webhook at the same time. */
const CONCURRENCY = 5
/** Deliveries of one webhook that are sent, or whose result is being stored: a kill repeats no more. */
const MAX_UNSTORED = 100
/** Deliveries that are read at a time, of up to 32 KB each, and how few of them wait when the next ones are read. */
const PAGE = 100
const READ_BELOW = 50

/**
 * No two instances send to a webhook at the same time: a request takes 10 s, and none is started later than 9 s after the
 * lease was renewed.
 */
const LEASE_MS = 20_000
const START_WITHIN_MS = 9_000
const RENEW_MS = 3_000

/** After an error of the database. */
const PAUSE_MS = 5_000

/** How long requests may continue while the process is shutting down. */
const END_MS = 2_000

/** Sends deliveries. Instances do so at the same time: each webhook is leased by one of them. */
export function webhookSender(deps: SendingDeps) {
  const { repos, metrics, pipes } = deps
  const { webhookQueue: queue } = repos
  const attemptsOf = webhookAttempts(deps)
  const results = webhookResults(deps)
  const sending = new Map<string, Promise<void>>()
  const runs = new Set<Run>()
  let cutting = new AbortController()
  let listener: SendingListener = { onError() {}, onSwitchedOff() {} }

  return {
    listen(given: SendingListener): void {
      listener = given
    },

    /**
     * A webhook was changed, or has a delivery to send again, on any instance. Of what is being sent to, what is not under
     * way is read again.
     */
    wake(): void {
      for (const run of runs) run.restart()
    },

    /** Starts to send to every webhook that has something due, and calls `onEnd` whenever it is done with one. */
    async startDue(signal: AbortSignal, onEnd: () => void): Promise<void> {
      for (const run of runs) run.readOn()
      while (!signal.aborted) {
        const leasedAt = performance.now()
        const lease = await queue.take({ without: [...sending.keys()], leaseMs: LEASE_MS })
        if (!lease) return
        const job = {
          name: 'send webhook',
          kind: 'job',
          attributes: { 'inlet.webhook.id': lease.id },
        } as const
        const work = traced(job, () => sendAll(lease, { signal, leasedAt })).then(
          () => {
            sending.delete(lease.id)
            onEnd()
          },
          // Usually the database is unavailable. What was sent and is not stored will be sent again, but not at once.
          (error) => {
            sending.delete(lease.id)
            listener.onError(error, lease.id)
            setTimeout(() => queue.release(lease, 0).catch(() => {}), PAUSE_MS).unref()
          },
        )
        sending.set(lease.id, work)
      }
    },

    whenSent,

    /** Waits for what was started; requests that take longer are cut, and sent again later. */
    async end(): Promise<void> {
      const timer = setTimeout(() => cutting.abort(), END_MS)
      await whenSent()
      clearTimeout(timer)
      cutting = new AbortController()
    },
  }

  /** Resolves when nothing is being sent. */
  async function whenSent(): Promise<void> {
    await Promise.all(sending.values())
  }

  /** Until nothing is due, or an attempt failed. */
  async function sendAll(
    lease: WebhookLease,
    { signal, leasedAt }: { signal: AbortSignal; leasedAt: number },
  ): Promise<void> {
    let renewedAt = leasedAt
    let current: WebhookRow | undefined
    let isChanged = false
    let readOn = () => {}
    const taken = {
      async renew() {
        const since = performance.now()
        // Without a row, the lease is lost, or the webhook was deleted: nothing more is started.
        current = await queue.renew(lease, LEASE_MS)
        renewedAt = since
        return current
      },
      release: (afterMs: number) => queue.release(lease, afterMs),
      renewMs: RENEW_MS,
    }
    const run: Run = {
      restart() {
        isChanged = true
      },
      readOn: () => readOn(),
    }
    const mayStart = () => !signal.aborted && performance.now() - renewedAt < START_WITHIN_MS
    await withLease(taken, async ({ release }) => {
      runs.add(run)
      try {
        while (mayStart()) {
          isChanged = false
          const webhook = await queue.findDue(lease)
          if (!webhook) break
          current = webhook
          const mayContinue = () => mayStart() && !isChanged && isSentAlike(current, webhook)
          const work = sendWaiting(webhook, { lease, mayContinue })
          readOn = work.readOn
          const { count, isStored } = await work.sent
          // If it was changed as this began, nothing was read.
          if (!isStored || (count === 0 && !isChanged)) {
            // What is left cannot be sent, and would be leased for ever.
            if (isStored) await queue.failWithoutActivity(lease)
            break
          }
        }
      } finally {
        runs.delete(run)
      }
      await release(0)
    })
  }

  /**
   * Sends what waits for a webhook as it is now. `sent` resolves to how many deliveries were read, and whether all results
   * are stored, which they are not if the webhook is being deleted.
   */
  function sendWaiting(
    webhook: WebhookRow,
    { lease, mayContinue }: { lease: WebhookLease; mayContinue: () => boolean },
  ): { sent: Promise<{ count: number; isStored: boolean }>; readOn(): void } {
    // After a failure, a single one shows whether the receiver responds again.
    const isTrial = webhook.failures > 0
    const limit = isTrial ? 1 : PAGE
    const attempt = attemptsOf(webhook)
    const storeSuccess = results.inSequence()
    let after: number | undefined
    let count = 0
    let unstored = 0
    let lastStored = Promise.resolve()
    let isStored = true
    let hasFailed = false
    const errors: unknown[] = []
    const work = inOrder<WaitingDelivery>({
      async read() {
        const items = await queue.listWaiting(webhook, { after, limit })
        after = items.at(-1)?.position ?? after
        count += items.length
        return { items, isEnd: items.length < limit || isTrial }
      },
      readBelow: READ_BELOW,
      keyOf: ({ activity }) => activity.taskId,
      concurrency: CONCURRENCY,
      mayStart: () => unstored < MAX_UNSTORED,
      mayContinue: () => !hasFailed && isStored && errors.length === 0 && mayContinue(),
      async work({ id, activity, task }) {
        unstored++
        const ended = await attempt({ id, activity: toActivity(activity), task }, cutting.signal).catch(
          unlessCut,
        )
        if (!ended) return
        metrics.sentToWebhook(ended.outcome === 'delivered' ? 'delivered' : 'failed')
        noteAttempt(pipes, ended)
        if (ended.outcome === 'failed') {
          hasFailed = true
          const reason = await results.storeFailure(ended, { webhook, lease })
          if (reason) listener.onSwitchedOff(webhook.id, reason)
        } else if (isTrial) await results.storeRecovery(ended, { webhook, lease })
        else lastStored = storeSuccess(ended).then(onStored, onStoreError)
      },
    })
    return { sent: whenStored(), readOn: isTrial ? () => {} : work.readOn }

    function onStored(isThisStored: boolean): void {
      unstored--
      isStored &&= isThisStored
      work.resume()
    }

    function onStoreError(error: unknown): void {
      errors.push(error)
      work.resume()
    }

    async function whenStored(): Promise<{ count: number; isStored: boolean }> {
      // They are stored one after another.
      await work.done.finally(() => lastStored)
      if (errors.length > 0) throw errors[0]
      return { count, isStored }
    }
  }

  function unlessCut(error: unknown): undefined {
    if (!cutting.signal.aborted) throw error
  }
}

/** Whether deliveries that were read for one are sent the same way to the other. */
const isSentAlike = (one: WebhookRow | undefined, other: WebhookRow) =>
  one?.isActive === other.isActive &&
  one.url === other.url &&
  one.secret === other.secret &&
  isDeepStrictEqual(one.previousSecrets, other.previousSecrets)
