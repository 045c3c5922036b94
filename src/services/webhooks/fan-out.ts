import { isRelevant } from '../../domain/webhooks.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { PositionedChange } from '../../repositories/webhooks/fan-out.ts'
import type { WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import type { Sequencer } from '../activity/sequencer.ts'

interface FanOutDeps {
  repos: Repositories
  clock: Clock
  sequencer: Pick<Sequencer, 'catchUp'>
}

/** Changes that are read at a time; each becomes up to 20 deliveries. */
const PAGE = 200
/** From one page to the next of those that do not respond, or are slow. */
const OTHERS_MS = 1_000
/** How often the database is asked while no webhook needs deliveries; `wake` is called when one does. */
const IDLE_MS = 5_000

const NOTHING = { isMore: false, written: 0 }

/** Writes the deliveries of what has changed. One instance at a time does. */
export function webhookFanOut({ repos, clock, sequencer }: FanOutDeps) {
  let idleUntil = 0
  let othersAt = 0

  return {
    /** Looks for webhooks that need deliveries the next time. */
    wake(): void {
      idleUntil = 0
    },

    /** Whether no webhook needed deliveries a while ago. */
    isIdle: () => performance.now() < idleUntil,

    /** Writes some deliveries. Returns how many, and whether there may be more to write. */
    async run(): Promise<{ isMore: boolean; written: number }> {
      if (performance.now() < idleUntil) return NOTHING
      if (!(await repos.webhookFanOut.isNeeded())) {
        idleUntil = performance.now() + IDLE_MS
        return NOTHING
      }
      const { end, isComplete } = await sequencer.catchUp()
      return repos.transaction(async ({ webhookFanOut }) => {
        if (!(await webhookFanOut.lock())) return NOTHING
        const behind = await webhookFanOut.listBehind(end.position)
        // Those that do not respond, or are slow, have time. They may be many. The responding ones may always be behind.
        const responding = behind.filter(({ failures, isBacklogged }) => failures === 0 && !isBacklogged)
        const isOthersTurn = responding.length < behind.length && performance.now() >= othersAt
        if (isOthersTurn) othersAt = performance.now() + OTHERS_MS
        const webhooks = isOthersTurn ? behind : responding
        // Those that lack many changes, for which they may have no deliveries, delay no other: each group has a page.
        const isFar = ({ position }: WebhookRow) => end.position - position > PAGE
        const { near = [], far = [] } = Object.groupBy(webhooks, (each) => (isFar(each) ? 'far' : 'near'))
        const pages = []
        for (const group of [near, far])
          if (group.length > 0)
            pages.push(await writePage(webhookFanOut, { webhooks: group, to: end.position }))
        const isFull = pages.some((page) => page.isFull)
        const written = pages.reduce((sum, page) => sum + page.written, 0)
        return { isMore: responding.length > 0 && (isFull || !isComplete), written }
      })
    },
  }

  /** Writes their deliveries of the next changes after the position of the one that is furthest behind. */
  async function writePage(
    { listChanges, insert }: Repositories['webhookFanOut'],
    { webhooks, to }: { webhooks: WebhookRow[]; to: number },
  ): Promise<{ isFull: boolean; written: number }> {
    const after = Math.min(...webhooks.map(({ position }) => position))
    const changes = await listChanges({ after, to, limit: PAGE })
    const isFull = changes.length === PAGE
    const position = (isFull ? changes.at(-1)?.position : undefined) ?? to
    const rows = webhooks.flatMap((webhook) => deliveriesFor(webhook, { changes, clock }))
    await insert(rows, { webhookIds: webhooks.map(({ id }) => id), position })
    return { isFull, written: rows.length }
  }
}

/** Of those changes that the webhook has no deliveries of yet. */
function deliveriesFor(
  webhook: WebhookRow,
  { changes, clock }: { changes: PositionedChange[]; clock: Clock },
) {
  const now = clock.now()
  return changes
    .filter((change) => change.position > webhook.position && isRelevant(webhook, change))
    .map(({ position, type, id: activityId, taskId }) => ({
      webhookId: webhook.id,
      id: clock.newId(now),
      position,
      type,
      activityId,
      taskId,
    }))
}
