import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { githubClient } from '../../../src/clients/github.ts'
import { postedIdIn, postedText } from '../../../src/domain/codehost/posted-comment.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { tokenVault } from '../../../src/services/codehost/token.ts'
import { outboxService } from '../../../src/services/write-back/outbox.ts'
import { commentDelivery } from '../../support/code-host-comments.ts'
import { deliver, type HostDelivery, itemDelivery } from '../../support/code-host-deliveries.ts'
import { passTime } from '../../support/database-clock.ts'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 15)
/** Set to what a failure printed, to see it again. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31)
const MINUTE = 60_000

let service: Syncing
let elapsed = 0
const clock = { ...systemClock(), now: () => new Date(Date.now() + elapsed) }
beforeAll(async () => {
  service = await startSyncing({ concurrency: 4, clock, hasDatabaseClock: true, hasOutboxWorker: false })
})
afterAll(() => service.close())

async function pass(ms: number) {
  elapsed += ms
  await passTime(service, ms)
}

/** What happens on either side, and what becomes of it on its way to the other. */
interface Step {
  what:
    | 'edit there'
    | 'close there'
    | 'reopen there'
    | 'comment there'
    | 'done here'
    | 'open here'
    | 'comment here'
    | 'edit comment here'
    | 'delete comment here'
  item: number
  /** Between changes at the code host; 0: in the same second. */
  seconds: number
  /** The deliveries of this step arrive after so many further steps; null: never. */
  delay: number | null
  isTwice: boolean
  isPolled: boolean
  /** What is written here: not now, undisturbed, or by a worker that is killed at one of its requests. */
  writer: 'off' | 'works' | 'lost' | 'unavailable' | { killedAt: number; hasEffect: boolean }
}

const steps = fc.array(
  fc.record<Step>({
    what: fc.constantFrom<Step['what']>(
      'edit there',
      'close there',
      'reopen there',
      'comment there',
      'done here',
      'done here',
      'open here',
      'open here',
      'comment here',
      'comment here',
      'edit comment here',
      'delete comment here',
    ),
    item: fc.nat(1),
    seconds: fc.constantFrom(0, 1, 7),
    delay: fc.option(fc.nat(3), { freq: 4 }),
    isTwice: fc.boolean(),
    isPolled: fc.boolean(),
    writer: fc.oneof(
      fc.constantFrom<Step['writer']>('off', 'works', 'works', 'lost', 'unavailable'),
      fc.record({ killedAt: fc.nat(3), hasEffect: fc.boolean() }),
    ),
  }),
  { minLength: 3, maxLength: 10 },
)

test('changes on both sides converge, whatever is lost, late, repeated or killed', {
  timeout: 60_000 + HISTORIES * 15_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const { replay, settle, expectEqual } = await setUp()
      await replay(history)
      await settle()
      await expectEqual()
    }),
    { numRuns: HISTORIES, seed: SEED, endOnFailure: true },
  )
})

async function setUp() {
  const token = randomUUID()
  service.host.tokens.set(token, { login: 'inlet-bot' })
  const settings = { token, writeBack: 'comments', comments: true }
  const { project, repository, sync } = await service.connected(settings, 2)
  await sync()
  const webhook = (await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)).body
  const tasks = [...(await service.tasksOf(project.id)).values()]
  const reports: HostDelivery[] = []
  service.host.onChange(({ delivery }) => void reports.push(delivery))
  const about = { api: service.host.url, repository: repository.about }
  const signal = new AbortController().signal

  async function change({ what, item, seconds }: Step): Promise<void> {
    const task = tasks[item]
    const { number } = task
    const { state } = repository.items.get(number) ?? {}
    const comments = (await service.get(`/api/tasks/${task.id}/comments`)).body.data
    const own = comments.filter(({ author }: { author: { type: string } }) => author.type === 'key').at(-1)
    const report = (action: string, values: object) =>
      reports.push(itemDelivery(repository.change(number, values, seconds), { ...about, action }))
    const closedAt = service.host.now() + seconds * 1_000
    switch (what) {
      case 'edit there':
        return void report('edited', { title: randomUUID() })
      case 'close there':
        if (state === 'open') report('closed', { state: 'closed', stateReason: 'not_planned', closedAt })
        return
      case 'reopen there':
        if (state === 'closed') report('reopened', { state: 'open', stateReason: 'reopened', closedAt: null })
        return
      case 'comment there': {
        const comment = repository.comment(number, { body: randomUUID() }, seconds)
        return void reports.push(commentDelivery(comment, { ...about, action: 'created' }))
      }
      case 'done here':
      case 'open here': {
        const status = what === 'done here' ? 'done' : 'open'
        expect((await service.patch(`/api/tasks/${task.id}`, { status })).status).toBe(200)
        return
      }
      case 'comment here':
        return void (await service.post(`/api/tasks/${task.id}/comments`, {
          body: randomUUID(),
          isPublic: true,
        }))
      case 'edit comment here':
        return own && void (await service.patch(`/api/comments/${own.id}`, { body: randomUUID() }))
      case 'delete comment here':
        return own && void (await service.delete(`/api/comments/${own.id}`))
    }
  }

  async function write(writer: Step['writer']): Promise<void> {
    await pass(3 * MINUTE)
    const isWrite = ({ method, url }: { method: string; url: string }) =>
      method !== 'GET' && url.includes(`/repositories/${repository.id}/`)
    if (writer === 'off') return
    if (typeof writer === 'object') {
      const { outbox, killed } = mortal(writer)
      await Promise.race([outbox.sendDue(signal), killed])
      return
    }
    if (writer === 'lost') service.host.fault('lost', { matches: isWrite })
    if (writer === 'unavailable') service.host.fault({ status: 502 }, { matches: isWrite })
    while (await service.service.outbox.sendDue(signal));
    service.host.heal()
  }

  return {
    async replay(history: Step[]) {
      const waiting: { at: number; deliveryId: string; delivery: HostDelivery }[] = []
      for (const [at, step] of [...history.entries(), [history.length + 5, undefined] as const]) {
        reports.length = 0
        if (step) {
          await change(step)
          await write(step.writer)
          for (const delivery of reports) {
            if (step.delay === null) continue
            const deliveryId = randomUUID()
            waiting.push({ at: at + step.delay, deliveryId, delivery })
            if (step.isTwice) waiting.push({ at: at + step.delay + 1, deliveryId: randomUUID(), delivery })
          }
        }
        const due = waiting.filter((each) => each.at <= at)
        for (const each of due) waiting.splice(waiting.indexOf(each), 1)
        await Promise.all(due.map(({ delivery, deliveryId }) => deliver(webhook, delivery, { deliveryId })))
        if (step?.isPolled) await sync()
      }
    },

    /** Everything arrives, and a full run sees the rest. */
    async settle() {
      const isIdle = async () => {
        const rows = await service.query(
          `select from codehost_deliveries join codehost_connections c on c.id = connection_id
           where project_id = $1 and status = 'received'`,
          [project.id],
        )
        expect(rows).toEqual([])
      }
      for (let round = 0; round < 2; round++) {
        await pass(60 * MINUTE)
        while (await service.service.outbox.sendDue(signal));
        service.service.push.wake()
        await vi.waitFor(isIdle, { timeout: 20_000, interval: 25 })
        await sync('?mode=full')
      }
    },

    async expectEqual() {
      for (const { id, number } of tasks) {
        const { body: task } = await service.get(`/api/tasks/${id}`)
        const item = repository.items.get(number)
        expect({ title: task.title, isDone: task.status === 'done' }).toEqual({
          title: item?.title,
          isDone: item?.state === 'closed',
        })
        expect(task.writeBack?.state ?? 'done').toBe('done')
        const rows = await service.query('select * from comments where task_id = $1', [id])
        const here = rows.map(({ id, body, author_type: type, author_name: authorName }) =>
          type === 'codehost' ? body : postedText({ id, body, authorName }),
        )
        const there = [...repository.comments.values()].filter((comment) => comment.number === number)
        expect(here.toSorted()).toEqual(there.map(({ body }) => body as string).toSorted())
        const ids = there.flatMap(({ body }) => postedIdIn(String(body)) ?? [])
        expect(ids).toHaveLength(new Set(ids).size)
      }
    },
  }
}

/** An outbox that does nothing more from one of its requests on, before or after it has had its effect. */
function mortal({ killedAt, hasEffect }: { killedAt: number; hasEffect: boolean }) {
  const { promise: killed, resolve } = Promise.withResolvers<void>()
  const client = githubClient()
  let requests = 0
  const host = new Proxy(client, {
    get(target, name: keyof typeof client) {
      const method = target[name] as (...args: unknown[]) => unknown
      if (name === 'commentsOfUrl') return method
      return async (...args: unknown[]) => {
        const isLast = requests++ === killedAt
        if (requests - 1 > killedAt) return new Promise(() => {})
        const response = isLast && !hasEffect ? undefined : await method(...args)
        if (!isLast) return response
        resolve()
        return new Promise(() => {})
      }
    },
  })
  const vault = tokenVault({
    apiUrls: [service.host.url],
    token: undefined,
    encryptionKey: Buffer.from('ab'.repeat(32), 'hex'),
    randomBytes,
  })
  return { outbox: outboxService({ repos: service.repos, clock, host, vault }), killed }
}
