import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../../src/db/pool.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { type Repositories, repositories } from '../../../src/repositories/index.ts'
import { activityFeed, type StreamEvent } from '../../../src/services/activity/feed.ts'
import { streamService } from '../../../src/services/activity/stream.ts'
import type { Subscription } from '../../../src/services/activity/subscription.ts'
import { freshDatabase } from '../../support/postgres.ts'

const clock = systemClock()
let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database
let repos: Repositories
let endings: AbortController[] = []
beforeAll(async () => {
  database = await freshDatabase()
  db = openDatabase({ connectionString: database.connectionString, size: 10, onError: () => {} })
  repos = repositories(db)
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

/** The tail of the record, which a test can take away, change and count. */
function feedWithFailures() {
  const state = { isAway: false, snapshots: 0, reads: 0, snapshot: {} }
  const tail: Repositories['activityLog'] = {
    async snapshot() {
      state.snapshots++
      if (state.isAway) throw new Error('away')
      return { ...(await repos.activityLog.snapshot()), ...state.snapshot }
    },
    async listWritten(...asked) {
      state.reads++
      if (state.isAway) throw new Error('away')
      return repos.activityLog.listWritten(...asked)
    },
  }
  return { state, tail }
}

describe('the activity feed', () => {
  test('sends what transactions wrote when they commit, in any order of start', async () => {
    const feed = activityFeed({ repos, clock })
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
    const subscription = await feed.subscribe(null, ending())

    await c.query('commit')
    expect(await messagesOf(subscription, 1)).toEqual(['c'])
    await d.query('rollback')
    await b.query('savepoint inner_one')
    await b.query(INSERT, ['b in a savepoint'])
    await b.query('release inner_one')
    await b.query('savepoint inner_two')
    await b.query(INSERT, ['taken back'])
    await b.query('rollback to inner_two')
    const late = await feed.subscribe(null, ending())
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
    const feed = activityFeed({ repos, clock })
    const subscription = await feed.subscribe(null, ending())
    const names = Array.from({ length: 1_000 }, (_, index) => String(index))
    const others = Array.from({ length: 5 }, async () => {
      await sleep(Math.random() * 100)
      return feed.subscribe(null, ending())
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

  test('skips rows restored from another cluster when it reaches their transaction numbers', async () => {
    const feed = activityFeed({ repos, clock })
    const subscription = await feed.subscribe(null, ending())
    const { rows } = await db.$client.query('select pg_current_xact_id()::text as now')
    await db.$client.query(
      `insert into activity (id, type, message, actor_type, actor_name, metadata, created_at, transaction)
       select gen_random_uuid(), 'test', 'restored', 'system', 'test', '{}', now() - interval '2 hours', t::text::xid8
       from generate_series($1::bigint + 1, $1::bigint + 20) as t`,
      [rows[0].now],
    )
    for (let i = 0; i < 25; i++) await write('new')

    expect(new Set(await messagesOf(subscription, 25))).toEqual(new Set(['new']))
  })

  test('resumes at its position after the database was unavailable', async () => {
    const { tail, state } = feedWithFailures()
    const feed = activityFeed({ repos: { activityLog: tail }, clock })
    const errors: unknown[] = []
    feed.onError((error) => errors.push(error))
    const subscription = await feed.subscribe(null, ending())

    state.isAway = true
    await write('while away')
    await sleep(600)
    const asked = state.snapshots
    await expect(feed.subscribe(null, ending())).rejects.toThrow('away')
    state.isAway = false

    expect(await messagesOf(subscription, 1)).toEqual(['while away'])
    expect(errors).toHaveLength(1)
    expect(asked).toBeLessThan(8)
  })

  test('queries the table only after a write, and never without subscribers', async () => {
    const { tail, state } = feedWithFailures()
    const feed = activityFeed({ repos: { activityLog: tail }, clock })
    const controller = ending()
    const subscription = await feed.subscribe(null, controller)
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
    ['is not the one it was', { text: '3:3:' }],
    ['has recovered from a crash, whatever number its transactions have reached', { life: 'another' }],
  ])('disconnects all subscribers when the database %s', async (_, snapshot) => {
    const { tail, state } = feedWithFailures()
    const feed = activityFeed({ repos: { activityLog: tail }, clock })
    const controller = ending()
    await feed.subscribe(null, controller)

    state.snapshot = snapshot

    await expect.poll(() => controller.signal.aborted).toBe(true)
    await feed.idle()
  })

  test('disconnects a subscriber that does not read before a megabyte is buffered, and no other', async () => {
    const feed = activityFeed({ repos, clock })
    const [idle, busy] = [ending(), ending()]
    const silent = await feed.subscribe(null, idle)
    const reader = await feed.subscribe(null, busy)

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
  const caller = {
    type: 'key' as const,
    id: '00000000-0000-7000-8000-000000000000',
    keyId: '00000000-0000-7000-8000-000000000000',
    name: 'a key',
    scopes: ['tasks:read' as const],
    projectId: null,
    expiresAt: null,
  }

  test('sends a heartbeat at once and after each quiet period', async () => {
    const feed = activityFeed({ repos, clock })
    const access = { isStillAdmitted: async () => true, onForget: () => () => {} }
    const stream = streamService({ repos, feed, access, clock, heartbeatMs: 30 })
    const controller = ending()
    const batches: StreamEvent[][] = []
    for await (const batch of await stream.open(caller, { request: {}, ending: controller })) {
      batches.push(batch)
      if (batches.length === 3) await write('one')
      if (batches.flat().length > 0) break
    }

    expect(batches.slice(0, 3)).toEqual([[], [], []])
    expect(batches.flat().map(messageOf)).toEqual(['one'])
  })

  test('stays open while its caller cannot be checked', async () => {
    const feed = activityFeed({ repos, clock })
    let checkAdmission = async (): Promise<boolean> => {
      throw new Error('away')
    }
    const access = { isStillAdmitted: () => checkAdmission(), onForget: () => () => {} }
    const stream = streamService({ repos, feed, access, clock, heartbeatMs: 30, checkMs: 20 })
    const controller = ending()
    const events = await stream.open(caller, { request: {}, ending: controller })
    await sleep(200)
    expect(controller.signal.aborted).toBe(false)

    checkAdmission = async () => false

    // Ends by itself.
    for await (const _ of events);
    expect(controller.signal.aborted).toBe(true)
    await feed.idle()
  })

  test('that ends before it started leaves no subscription', async () => {
    const feed = activityFeed({ repos, clock })
    const access = { isStillAdmitted: async () => true, onForget: () => () => {} }
    const stream = streamService({ repos, feed, access, clock })
    for (const wish of [{}, { lastEventId: caller.id }]) {
      const controller = ending()
      const opening = stream.open(caller, { request: wish, ending: controller })
      controller.abort()
      await opening
      await feed.idle()
    }
  })
})
