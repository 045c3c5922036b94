import { retryDelayMs } from '../../domain/webhooks.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { inOrder } from '../../lib/in-order.ts'
import { semaphore } from '../../lib/semaphore.ts'
import { traced } from '../../lib/traced.ts'
import type { Repositories } from '../../repositories/index.ts'
import { everywhere } from '../../repositories/index.ts'
import type { Attempt, WaitingDelivery, WebhookLease } from '../../repositories/webhooks/queue.ts'
import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import { activityRow, SERVICE } from '../activity/row.ts'
import type { Sequencer } from '../activity/sequencer.ts'
import { toActivity } from '../activity/view.ts'
import type { Metrics } from '../metrics/index.ts'
import { type AttemptDeps, webhookAttempts } from './attempt.ts'
import { about } from './index.ts'
import { writeOutstanding } from './outstanding.ts'

interface SendingDeps extends AttemptDeps {
  repos: Repositories
  clock: Clock
  sequencer: Pick<Sequencer, 'catchUp'>
  metrics: Pick<Metrics, 'sentToWebhook'>
}

/** What the worker logs. */
interface SendingListener {
  onError(error: unknown, webhookId: string): void
  onSwitchedOff(webhookId: string, reason: 'failed' | 'gone'): void
}

/** Requests to one webhook at the same time. */
const CONCURRENCY = 5
/** Deliveries that are sent, or whose result is being stored. */
const MAX_UNSTORED = 10
/** Deliveries that are read at a time, of up to 32 KB each. */
const PAGE = 100

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
  const { repos, clock, sequencer, metrics } = deps
  const { webhookQueue: queue } = repos
  const attemptsOf = webhookAttempts(deps)
  const sending = new Map<string, Promise<void>>()
  const renewals = new Set<() => Promise<void>>()
  let cutting = new AbortController()
  let listener: SendingListener = { onError() {}, onSwitchedOff() {} }

  return {
    listen(given: SendingListener): void {
      listener = given
    },

    /** A webhook was changed, on any instance. If it is being sent to, what is not under way is sent as it is now. */
    wake(): void {
      for (const renew of renewals) void renew()
    },

    /** Starts to send to every webhook that has something due, and calls `onEnd` whenever it is done with one. */
    async startDue(signal: AbortSignal, onEnd: () => void): Promise<void> {
      while (!signal.aborted) {
        const leasedAt = performance.now()
        const lease = await queue.lease({ without: [...sending.keys()], leaseMs: LEASE_MS })
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
            setTimeout(() => queue.release(lease).catch(() => {}), PAUSE_MS).unref()
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
    const renew = async () => {
      const since = performance.now()
      const row = await queue.renew(lease, LEASE_MS).catch(() => undefined)
      if (!row) return
      renewedAt = since
      current = row
    }
    const timer = setInterval(renew, RENEW_MS)
    renewals.add(renew)
    const mayStart = () => !signal.aborted && performance.now() - renewedAt < START_WITHIN_MS
    try {
      while (mayStart()) {
        const webhook = await queue.findDue(lease)
        if (!webhook) break
        current = webhook
        const isUnchanged = () => isSentAlike(current, webhook)
        // After a failure, a single one shows whether the receiver responds again.
        const waiting = await queue.listWaiting(webhook, webhook.failures > 0 ? 1 : PAGE)
        if (waiting.length === 0) break
        await sendPage(waiting, { webhook, lease, mayStart: () => mayStart() && isUnchanged() })
      }
      await queue.release(lease)
    } finally {
      clearInterval(timer)
      renewals.delete(renew)
    }
  }

  async function sendPage(
    waiting: WaitingDelivery[],
    { webhook, lease, mayStart }: { webhook: WebhookRow; lease: WebhookLease; mayStart: () => boolean },
  ): Promise<void> {
    let hasFailed = false
    const mayContinue = () => mayStart() && !hasFailed
    const attempt = attemptsOf(webhook)
    const limit = semaphore(CONCURRENCY)
    const store = batcher<Attempt, void>(
      async (attempts) => {
        await queue.record(webhook.id, attempts)
        return attempts.map(() => undefined)
      },
      {
        name: 'store attempts',
        maxItems: PAGE,
        concurrency: 1,
        maxBytes: 1,
        bytesOf: () => 0,
        isForAll: () => true,
      },
    )
    await inOrder(waiting, {
      keyOf: ({ activity }) => activity.taskId,
      concurrency: MAX_UNSTORED,
      mayContinue,
      async work({ id, activity, task }) {
        const ended = await limit(async () => {
          if (!mayContinue()) return undefined
          const message = { id, activity: toActivity(activity), task }
          return attempt(message, cutting.signal).catch(unlessCut)
        })
        if (!ended) return
        metrics.sentToWebhook(ended.outcome === 'delivered' ? 'delivered' : 'failed')
        if (ended.outcome === 'failed') {
          hasFailed = true
          await storeFailure(ended, { webhook, lease })
        } else if (webhook.failures > 0) await storeRecovery(ended, { webhook, lease })
        else await store(ended)
      },
    })
  }

  function unlessCut(error: unknown): undefined {
    if (!cutting.signal.aborted) throw error
  }

  /** The first success after failures. The webhook is locked before its deliveries, as everywhere. */
  async function storeRecovery(
    ended: Attempt,
    { webhook, lease }: { webhook: WebhookRow; lease: WebhookLease },
  ): Promise<void> {
    await repos.transaction(async ({ webhookQueue }) => {
      await webhookQueue.noteSuccess(lease, webhook)
      await webhookQueue.record(webhook.id, [ended])
    })
  }

  async function storeFailure(
    ended: Attempt,
    { webhook, lease }: { webhook: WebhookRow; lease: WebhookLease },
  ): Promise<void> {
    const { failures, projectId } = webhook
    const delayMs = retryDelayMs(failures)
    const isGone = ended.responseStatus === 410
    if (delayMs !== undefined && !isGone) {
      await repos.transaction(async ({ webhookQueue }) => {
        await webhookQueue.noteFailure(lease, { failures, delayMs })
        await webhookQueue.record(webhook.id, [ended])
      })
      return
    }
    const reason = isGone ? 'gone' : 'failed'
    const { end } = await sequencer.catchUp()
    const isSwitchedOff = await repos.transaction(async (repos) => {
      const { webhookQueue } = repos
      const off = await webhookQueue.switchOff(lease, { failures, reason })
      await webhookQueue.record(webhook.id, [ended])
      if (!off) return false
      await writeOutstanding(webhookQueue, { webhook: off, to: end.position, clock })
      const metadata = { ...about(webhook), reason }
      const type = 'webhook.disabled'
      const row = activityRow(clock, { now: clock.now(), type, actor: SERVICE, projectId, metadata })
      await repos.within(everywhere).activity.insert([row])
      return true
    })
    if (isSwitchedOff) listener.onSwitchedOff(webhook.id, reason)
  }
}

/** Whether deliveries that were read for one are sent the same way to the other. */
const isSentAlike = (one: WebhookRow | undefined, other: WebhookRow) =>
  one?.isActive === other.isActive &&
  one.url === other.url &&
  one.secret === other.secret &&
  one.previousSecret === other.previousSecret
