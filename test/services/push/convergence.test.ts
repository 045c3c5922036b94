import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commentDelivery, type HostComment } from '../../support/code-host-comments.ts'
import { deliver, type HostDelivery, itemDelivery } from '../../support/code-host-deliveries.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 15)
/** Set to what a failure printed, to see it again. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ concurrency: 4 })
})
afterAll(() => service.close())

/** A change at the code host, and what becomes of its delivery. */
interface Change {
  what: (typeof CHANGES)[number]
  /** Which of the items, counted around. */
  item: number
  /** The same of its comments. */
  comment: number
  /** 0: in the same second as the change before. */
  seconds: number
  /** Delivered after so many further changes; lost if null. */
  delay: number | null
  copies: { delay: number; isRedelivery: boolean }[]
  /** Whether a sync runs after it. */
  isPolled: boolean
}

const CHANGES = [
  'open',
  'open pull',
  'edit',
  'close',
  'reopen',
  'merge',
  'delete',
  'comment',
  'edit comment',
  'delete comment',
] as const

const changes = ({ canBeLost }: { canBeLost: boolean }) =>
  fc.array(
    fc.record<Change>({
      what: fc.constantFrom(...CHANGES, 'edit', 'comment', 'edit comment'),
      item: fc.nat(4),
      comment: fc.nat(2),
      seconds: fc.constantFrom(0, 0, 1, 7),
      delay: canBeLost ? fc.option(fc.nat(4), { freq: 2 }) : fc.nat(4),
      copies: fc.array(fc.record({ delay: fc.nat(6), isRedelivery: fc.boolean() }), { maxLength: 1 }),
      isPolled: canBeLost ? fc.boolean() : fc.constant(false),
    }),
    { minLength: 3, maxLength: 12 },
  )

describe('deliveries in any order, late and twice', () => {
  test('end in the state of the code host without a sync, if none is lost', {
    timeout: 60_000 + HISTORIES * 10_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(changes({ canBeLost: false }), async (history) => {
        const { replay, tasks, expected } = await setUp()
        await replay(history)
        expect(await tasks()).toEqual(await expected())
      }),
      { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
    )
  })

  test('end in it after a full sync, whichever are lost and whenever it is polled', {
    timeout: 60_000 + HISTORIES * 10_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(changes({ canBeLost: true }), async (history) => {
        const { project, replay, tasks, expected, updateTimes, itemTimes } = await setUp()
        await replay(history)
        await service.sync(project.id, '?mode=full')
        expect(await tasks()).toEqual(await expected())
        expect(await updateTimes()).toEqual(itemTimes())
      }),
      { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
    )
  })
})

async function setUp() {
  const { project, repository, sync } = await service.connected({ comments: true })
  const path = `/api/projects/${project.id}/codehost`
  const { body: connection } = await service.get(path)
  const webhook = (await service.post(`${path}/webhook-secret`)).body
  const { about } = repository

  function make(change: Change): HostDelivery | undefined {
    return change.what.includes('comment') ? makeComment(change) : makeItem(change)
  }

  function makeComment({ what, item: nth, comment: nthComment, seconds }: Change): HostDelivery | undefined {
    const there = [...repository.items.values()].filter(({ gone }) => !gone)
    const item = there[nth % Math.max(1, there.length)]
    if (!item) return undefined
    const report = (action: 'created' | 'edited' | 'deleted', comment: HostComment) =>
      commentDelivery(comment, { api: service.host.url, repository: about, action })
    const body = `Comment ${randomUUID()}`
    if (what === 'comment') return report('created', repository.comment(item.number, { body }, seconds))
    const own = [...repository.comments.values()].filter(({ number }) => number === item.number)
    const comment = own[nthComment % Math.max(1, own.length)]
    if (!comment) return undefined
    if (what === 'edit comment') return report('edited', repository.edit(comment.id, { body }, seconds))
    return report('deleted', repository.removeComment(comment.id, seconds))
  }

  function makeItem({ what, item: nth, seconds }: Change): HostDelivery | undefined {
    const report = (action: string, item: Parameters<typeof itemDelivery>[0]) =>
      itemDelivery(item, { api: service.host.url, repository: about, action })
    if (what === 'open') return report('opened', repository.issue({}, seconds))
    if (what === 'open pull') return report('opened', repository.issue({ mergedAt: null }, seconds))
    const there = [...repository.items.values()].filter(({ gone }) => !gone)
    const item = there[nth % Math.max(1, there.length)]
    if (!item) return undefined
    const { number } = item
    const isPull = item.mergedAt !== undefined
    const now = service.host.now() + seconds * 1_000
    const change = (action: string, values: object) =>
      report(action, repository.change(number, values, seconds))
    switch (what) {
      case 'edit':
        return change('edited', { title: `Title ${randomUUID()}`, labels: [`label ${nth}`] })
      case 'close':
        return change('closed', {
          state: 'closed',
          stateReason: isPull ? null : 'not_planned',
          closedAt: now,
        })
      case 'reopen':
        return item.mergedAt
          ? undefined
          : change('reopened', { state: 'open', stateReason: null, closedAt: null })
      case 'merge':
        return isPull
          ? change('closed', { state: 'closed', mergedAt: new Date(now).toISOString(), closedAt: now })
          : undefined
      case 'delete comment':
      case 'edit comment':
      case 'comment':
        return undefined
      case 'delete': {
        if (isPull) return undefined
        const delivery = change('deleted', {})
        repository.remove(number)
        return delivery
      }
    }
  }

  return {
    project,
    /** Makes the changes and sends their deliveries; resolves when all that arrived are applied. */
    async replay(history: Change[]) {
      const pending: { at: number; deliveryId: string; delivery: HostDelivery }[] = []
      for (const [at, change] of [...history.entries(), [history.length + 10, undefined] as const]) {
        const delivery = change && make(change)
        if (delivery) {
          const deliveryId = randomUUID()
          if (change.delay !== null) {
            pending.push({ at: at + change.delay, deliveryId, delivery })
            for (const { delay, isRedelivery } of change.copies)
              pending.push({ at: at + delay, deliveryId: isRedelivery ? deliveryId : randomUUID(), delivery })
          }
        }
        const due = pending.filter((each) => each.at <= at)
        for (const each of due) pending.splice(pending.indexOf(each), 1)
        const send = async ({ deliveryId, delivery }: (typeof due)[number]) =>
          expect((await deliver(webhook, delivery, { deliveryId })).status).toBe(202)
        // Polled while they are applied.
        await Promise.all([...due.map(send), change?.isPolled && sync()])
      }
      await vi.waitFor(
        async () => {
          const rows = await service.query(
            `select status, reason from codehost_deliveries where connection_id = $1 and status in ('received', 'failed')`,
            [connection.id],
          )
          expect(rows).toEqual([])
        },
        { timeout: 20_000, interval: 25 },
      )
    },
    tasks: () => present(project.id),
    /** A comment changes that of its item, too, which only a sync sees. */
    updateTimes: async () =>
      (
        await service.query(
          `select host_updated_at from tasks where project_id = $1 and source_state = 'present' order by codehost_number`,
          [project.id],
        )
      ).map(({ host_updated_at }) => host_updated_at.getTime()),
    itemTimes: () =>
      [...repository.items.values()].filter(({ gone }) => !gone).map(({ updatedAt }) => updatedAt),
    /** What a first sync of the repository creates. */
    async expected() {
      const other = await service.given.project()
      const body = { repository: repository.name, schedule: 'off', comments: true }
      expect((await service.put(`/api/projects/${other.id}/codehost`, body)).status).toBe(200)
      await service.sync(other.id)
      return present(other.id)
    },
  }
}

/** What the code host owns of the tasks that it still has, and of their comments. */
async function present(projectId: string) {
  const tasks = await service.query(
    `select codehost_number, title, description, external_url, labels, assignees, codehost_kind, codehost_state,
       closed_reason, status, completed_at, opened_at, author_name, author_url, is_draft, comment_count
     from tasks where project_id = $1 and source_state = 'present' order by codehost_number`,
    [projectId],
  )
  const comments = await service.query(
    `select codehost_number, comments.body, comments.external_id, comments.external_url, comments.author_type,
       comments.author_name, comments.author_url, comments.is_public, comments.host_updated_at, comments.created_at
     from comments join tasks on tasks.id = task_id
     where project_id = $1 and source_state = 'present' order by comments.external_id`,
    [projectId],
  )
  return { tasks, comments }
}
