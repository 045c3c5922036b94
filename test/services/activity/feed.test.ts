import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../../src/db/pool.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type Repositories, repositories } from '../../../src/repositories/index.ts'
import type { Admission } from '../../../src/services/access.ts'
import { activityFeed, type StreamEvent } from '../../../src/services/activity/feed.ts'
import { adoptDatabase, changeSequencer } from '../../../src/services/activity/sequencer.ts'
import { streamService } from '../../../src/services/activity/stream.ts'
import type { Subscription } from '../../../src/services/activity/subscription.ts'
import { callerWith } from '../../support/caller.ts'
import { freshDatabase } from '../../support/postgres.ts'

const clock = systemClock()
const all = { projectIds: null }
let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database
let repos: Repositories
let sequencer: ReturnType<typeof changeSequencer>
let endings: AbortController[] = []
beforeAll(async () => {
  database = await freshDatabase()
  db = openDatabase({ connectionString: database.connectionString, size: 10, onError: () => {} })
  // A busy machine takes seconds for a thousand writes.
  Object.assign(db.$client.options, { connectionTimeoutMillis: 20_000 })
  repos = repositories(db)
  sequencer = changeSequencer({ changes: repos.changes, adopt: () => adoptDatabase(repos.changes) })
})
afterEach(() => {
  for (const ending of endings) ending.abort()
  endings = []
})
afterAll(async () => {
  await db.$client.end()
  await database.drop()
})

const INSERT = `
  insert into activity (id, type, message, actor_type, actor_name, metadata, created_at)
  values (gen_random_uuid(), 'test', $1, 'system', 'test', '{}', now())`

const write = (message: string) => db.$client.query(INSERT, [message])

function ending(): AbortController {
  const controller = new AbortController()
  endings.push(controller)
  return controller
}

async function messagesOf(subscription: Subscription, count: number): Promise<string[]> {
  const messages: string[] = []
  const deadline = Date.now() + 5_000
  while (messages.length < count && Date.now() < deadline) {
    messages.push(...(await subscription.next(100)).map(messageOf))
  }
  // What would be too much gets its chance.
  return [...messages, ...(await rest(subscription))]
}

async function rest(subscription: Subscription): Promise<string[]> {
  const messages: string[] = []
  for (;;) {
    const events = await subscription.next(250)
    if (events.length === 0) return messages
    messages.push(...events.map(messageOf))
  }
}

const messageOf = ({ data }: StreamEvent): string => JSON.parse(data).message

const newFeed = () => activityFeed({ changes: repos.changes, sequencer })

/** A feed whose database a test can take away, change and count. */
function feedWithFailures() {
  const state = { isAway: false, snapshots: 0, reads: 0, end: {} }
  const changes: Parameters<typeof activityFeed>[0]['changes'] = {
    async snapshot() {
      state.snapshots++
      if (state.isAway) throw new Error('away')
      return repos.changes.snapshot()
    },
    async list(...asked) {
      state.reads++
      if (state.isAway) throw new Error('away')
      return repos.changes.list(...asked)
    },
  }
  const catchUp = async () => {
    const { end, isComplete } = await sequencer.catchUp()
    return { end: { ...end, ...state.end }, isComplete }
  }
  return { state, feed: activityFeed({ changes, sequencer: { catchUp } }) }
}

describe('the activity feed', () => {
  test('sends what transactions wrote when they commit, in any order of start', async () => {
    const feed = newFeed()
    const clients = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const client = new pg.Client({ connectionString: database.connectionString })
        await client.connect()
        await client.query('begin')
        await client.query(INSERT, [name])
        return client
      }),
    )
    const [a, b, c, d] = clients as [pg.Client, pg.Client, pg.Client, pg.Client]
    const subscription = await feed.subscribe(all, ending())

    await c.query('commit')
    expect(await messagesOf(subscription, 1)).toEqual(['c'])
    await d.query('rollback')
    await b.query('savepoint inner_one')
    await b.query(INSERT, ['b in a savepoint'])
    await b.query('release inner_one')
    await b.query('savepoint inner_two')
    await b.query(INSERT, ['taken back'])
    await b.query('rollback to inner_two')
    const late = await feed.subscribe(all, ending())
    await b.query('commit')
    await write('between')
    expect((await messagesOf(subscription, 3)).sort()).toEqual(['b', 'b in a savepoint', 'between'])
    expect((await messagesOf(late, 3)).sort()).toEqual(['b', 'b in a savepoint', 'between'])
    await a.query('commit')
    expect(await messagesOf(subscription, 1)).toEqual(['a'])
    expect(await messagesOf(late, 1)).toEqual(['a'])
    await Promise.all(clients.map((client) => client.end()))
  })

  test('sends each of a thousand concurrent transactions once', async () => {
    const feed = newFeed()
    const subscription = await feed.subscribe(all, ending())
    const names = Array.from({ length: 1_000 }, (_, index) => String(index))
    const others = Array.from({ length: 5 }, async () => {
      await sleep(Math.random() * 100)
      return feed.subscribe(all, ending())
    })

    await Promise.all(names.map((name) => write(name)))
    const messages = await messagesOf(subscription, 1_000)

    expect(messages).toHaveLength(1_000)
    expect(new Set(messages)).toEqual(new Set(names))
    for (const other of await Promise.all(others)) {
      const some = await rest(other)
      expect(new Set(some).size).toBe(some.length)
    }
  }, 120_000)

  test('resumes at its position after the database was unavailable', async () => {
    const { feed, state } = feedWithFailures()
    const errors: unknown[] = []
    feed.onError((error) => errors.push(error))
    const subscription = await feed.subscribe(all, ending())

    state.isAway = true
    await write('while away')
    await sleep(600)
    const asked = state.snapshots
    await expect(feed.subscribe(all, ending())).rejects.toThrow('away')
    state.isAway = false

    expect(await messagesOf(subscription, 1)).toEqual(['while away'])
    expect(errors).toHaveLength(1)
    expect(asked).toBeLessThan(8)
  })

  test('queries the table only after a write, and never without subscribers', async () => {
    const { feed, state } = feedWithFailures()
    const controller = ending()
    const subscription = await feed.subscribe(all, controller)
    await write('one')
    await messagesOf(subscription, 1)
    const { reads } = state

    controller.abort()
    await feed.idle()
    const { snapshots } = state
    await sleep(300)

    // Other test files write to other databases of this server, which makes for a look that finds nothing.
    expect(reads).toBeGreaterThan(0)
    expect(state.snapshots).toBe(snapshots)
  })

  test.each([
    ['another epoch', { epoch: '6fa459ea-ee8a-4ca4-894e-db77e160355e' }],
    ['lost what was delivered', { position: 0 }],
  ])('disconnects all subscribers when the database has %s', async (_, end) => {
    const { feed, state } = feedWithFailures()
    const controller = ending()
    await feed.subscribe(all, controller)
    await write('so that there is a position')

    await feed.subscribe(all, ending())
    state.end = end
    await write('so that it looks')

    await expect.poll(() => controller.signal.aborted).toBe(true)
  })

  test('disconnects a subscriber that does not read before a megabyte is buffered, and no other', async () => {
    const feed = newFeed()
    const [idle, busy] = [ending(), ending()]
    const silent = await feed.subscribe(all, idle)
    const reader = await feed.subscribe(all, busy)

    let count = 0
    const publishing = (async () => {
      for (let i = 0; i < 40; i++) {
        feed.publish({
          id: null,
          type: 'sync.progress',
          projectId: null,
          data: JSON.stringify({ message: 'x'.repeat(60_000) }),
        })
        await sleep(1)
      }
    })()
    while (count < 40) count += (await reader.next(1_000)).length
    await publishing

    expect([idle.signal.aborted, busy.signal.aborted]).toEqual([true, false])
    expect(await silent.next(10)).toEqual([])
  })
})

describe('a stream of the feed', () => {
  const caller = callerWith({ scopes: ['tasks:read'] })

  test('sends a heartbeat at once and after each quiet period', async () => {
    const feed = newFeed()
    const access = { admissionOf: async () => 'same' as const, onForget: () => () => {} }
    const stream = streamService({ repos, feed, sequencer, access, clock, heartbeatMs: 30 })
    const controller = ending()
    const batches: StreamEvent[][] = []
    for await (const { events: batch } of await stream.open(caller, { request: {}, ending: controller })) {
      batches.push(batch)
      if (batches.length === 3) await write('one')
      if (batches.flat().length > 0) break
    }

    expect(batches.slice(0, 3)).toEqual([[], [], []])
    expect(batches.flat().map(messageOf)).toEqual(['one'])
  })

  test('stays open while its caller cannot be checked', async () => {
    const feed = newFeed()
    let checkAdmission = async (): Promise<Admission> => {
      throw new Error('away')
    }
    const access = { admissionOf: () => checkAdmission(), onForget: () => () => {} }
    const stream = streamService({ repos, feed, sequencer, access, clock, heartbeatMs: 30, checkMs: 20 })
    const controller = ending()
    const events = await stream.open(caller, { request: {}, ending: controller })
    await sleep(200)
    expect(controller.signal.aborted).toBe(false)

    checkAdmission = async () => 'ended'

    // Ends by itself.
    for await (const _ of events);
    expect(controller.signal.aborted).toBe(true)
    await feed.idle()
  })

  test('that ends before it started leaves no subscription', async () => {
    const feed = newFeed()
    const access = { admissionOf: async () => 'same' as const, onForget: () => () => {} }
    const stream = streamService({ repos, feed, sequencer, access, clock })
    for (const wish of [{}, { lastEventId: caller.id }]) {
      const controller = ending()
      const opening = stream.open(caller, { request: wish, ending: controller })
      controller.abort()
      await opening
      await feed.idle()
    }
  })
})
