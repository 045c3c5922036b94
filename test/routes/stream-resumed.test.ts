import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { hasId, idsOf, type Listener, stored, streamListeners } from '../support/stream.ts'

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
const { follow, closeAll } = streamListeners(() => service)
afterEach(closeAll)
afterAll(() => service.close())

const log = async (body: object, on: TestApp = service) => (await on.post('/api/activity', body)).body

describe('a resumed stream', () => {
  test('reports that unrecorded changes may have been missed, and continues', async () => {
    const project = await service.given.project()
    const seen = await log({ type: 'x', projectId: project.id })
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: project.id })
    const [all, bound] = [await follow({ lastEventId: seen.id }), await follow({ key, lastEventId: seen.id })]
    const last = await log({ type: 'x', projectId: project.id })
    for (const listener of [all, bound]) await listener.until(hasId(last.id))
    const changesOf = (listener: Listener) =>
      listener.events.flatMap(({ id, event, data }) => (id === null ? [[event, data]] : []))
    expect(changesOf(all)).toEqual([
      ['project.changed', { projectId: null }],
      ['routing.changed', {}],
    ])
    expect(changesOf(bound)).toEqual([['project.changed', { projectId: null }]])
  })

  test('has more than a page of what it missed, once each', async () => {
    const project = await service.given.project()
    const first = await log({ type: 'x', projectId: project.id })
    const ids: string[] = []
    for (let i = 0; i < 1_050; i++) ids.push(await service.given.activity({ projectId: project.id }))
    const listener = await follow({ query: `?projectId=${project.id}`, lastEventId: first.id })
    const last = await log({ type: 'x', projectId: project.id })

    await listener.until(hasId(last.id))

    expect(idsOf(listener.events)).toEqual([first.id, ...ids, last.id])
  })

  test('continues exactly after the event that was seen last, and not a minute before', async () => {
    const project = await service.given.project()
    const query = `?projectId=${project.id}`
    const first = await follow({ query })
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.push((await log({ type: 'x', projectId: project.id })).id)
    await first.until(hasId(ids[2] as string))
    const [one, two, three] = stored(first.events).map(({ id }) => id as string)

    for (let n = 0; n < 1_050; n++) ids.push(await service.given.activity({ projectId: project.id }))
    const last = await log({ type: 'x', projectId: project.id })
    for (const [seen, count] of [[one, 1] as const, [two, 2] as const, [three, 3] as const]) {
      const listener = await follow({ query, lastEventId: seen as string })
      await listener.until(hasId(last.id))
      expect(idsOf(listener.events)).toEqual([...ids.slice(count), last.id])
    }
  })

  test('continues after the heartbeat that it begins with', async () => {
    const first = await follow()
    await expect.poll(() => first.lastEventId).toBeDefined()
    const missed = await log({ type: 'x' })
    first.close()
    const [event] = first.events.filter(({ data }) => data.id === missed.id)

    const second = await follow({ lastEventId: first.lastEventId as string })
    const last = await log({ type: 'x' })
    await second.until(hasId(last.id))

    expect(idsOf(second.events)).toEqual(event ? [last.id] : [missed.id, last.id])
  })

  test('begins now and asks to fetch everything if nobody knows what came since', async () => {
    const project = await service.given.project()
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: project.id })
    const seen = await follow()
    const before = await log({ type: 'x', projectId: project.id })
    await seen.until(hasId(before.id))
    const lastEventId = seen.events.at(-1)?.id as string
    await service.repos.changes.renewEpoch()

    // A stream that was open ends, because its cursors do.
    await expect.poll(() => seen.isEnded).toBe(true)
    const [all, bound] = [await follow({ lastEventId }), await follow({ key, lastEventId })]
    const after = await log({ type: 'x', projectId: project.id })
    for (const listener of [all, bound]) {
      await listener.until(hasId(after.id))
      expect(idsOf(listener.events)).toEqual([after.id])
    }
    const transient = (listener: Listener) =>
      listener.events.flatMap(({ id, event }) => (id === null ? [event] : []))
    expect(transient(all)).toEqual(['stream.reset', 'project.changed', 'routing.changed'])
    expect(transient(bound)).toEqual(['stream.reset', 'project.changed'])
    const forged = await follow({ lastEventId: 'A'.repeat(32) })
    await forged.until((events) => events.some(({ event }) => event === 'stream.reset'))
  })

  test('has what was restored from another cluster, whose transactions have higher numbers', async () => {
    const project = await service.given.project()
    const old = await service.given.activity({ projectId: project.id, transaction: '99999999999' })
    await service.query(`update change_feed set database_id = 'another'`)
    const listener = await follow({ query: `?projectId=${project.id}`, lastEventId: old })
    const last = await log({ type: 'x', projectId: project.id })

    await listener.until(hasId(last.id))

    expect(idsOf(listener.events)).toEqual([old, last.id])
  })
})

describe('a stream resumed from the ID of an activity', () => {
  /** Without activity of other tests, which is newer than some of these and has earlier positions. */
  let alone: TestApp
  beforeEach(async () => {
    alone = await startApp()
  })
  afterEach(async () => {
    closeAll()
    await alone.close()
  })

  test('replays from a minute before the last activity that was seen, oldest first', async () => {
    const now = Date.now()
    const project = await alone.given.project()
    const ids = []
    for (const seconds of [200, 130, 119, 60, 1]) {
      ids.push(
        await alone.given.activity({ projectId: project.id, createdAt: new Date(now - seconds * 1000) }),
      )
    }
    const listener = await follow({ query: `?projectId=${project.id}`, lastEventId: ids[3] as string }, alone)
    const last = await log({ type: 'x', projectId: project.id }, alone)

    await listener.until(hasId(last.id))

    expect(idsOf(listener.events)).toEqual([...ids.slice(2), last.id])
  })

  test('replays at most a day for an id that never existed', async () => {
    const now = Date.now()
    const hours = (count: number) => new Date(now - count * 3_600_000)
    const project = await alone.given.project()
    const given = (createdAt: Date) => alone.given.activity({ projectId: project.id, createdAt })
    const long = await given(hours(50))
    const today = await given(hours(10))
    const recent = await given(hours(0))
    const eventsSince = async (lastEventId: string) => {
      const listener = await follow({ query: `?projectId=${project.id}`, lastEventId }, alone)
      await listener.until(hasId(recent))
      return idsOf(listener.events)
    }

    expect(await eventsSince(long)).toEqual([long, today, recent])
    expect(await eventsSince(UNKNOWN_ID)).toEqual([today, recent])
    expect(await eventsSince('ffffffff-ffff-7fff-bfff-ffffffffffff')).toEqual([recent])
    expect(await eventsSince('6fa459ea-ee8a-4ca4-894e-db77e160355e')).toEqual([today, recent])
    expect(await eventsSince(recent.toUpperCase())).toEqual([recent])
  })
})

describe('on two instances of one database', () => {
  let second: TestApp
  beforeAll(async () => {
    second = await startApp({ connectionString: service.connectionString })
  })
  afterAll(() => second.close())

  test('a stream on one has what the other wrote', async () => {
    const [here, there] = [await follow(), await follow({}, second)]
    const one = await log({ type: 'x', message: 'one' })
    const two = await log({ type: 'x', message: 'two' }, second)

    for (const listener of [here, there]) {
      await listener.until(hasId(two.id))
      expect(idsOf(listener.events)).toEqual([one.id, two.id])
    }
  })

  test('a stream that is cut and resumed misses nothing of 200 writes a second', async () => {
    const known = new Set<string>()
    const takeAll = (listener: Listener) => {
      for (const id of idsOf(listener.events)) {
        expect(known).not.toContain(id)
        known.add(id)
      }
    }
    const written: string[] = []
    const before = await follow()
    await expect.poll(() => before.lastEventId).toBeDefined()
    let { lastEventId } = before
    before.close()
    const writing = writeSteadily(written, 4_000)

    for (let round = 0; round < 8; round++) {
      const on = round % 2 === 0 ? service : second
      const listener = await follow({ lastEventId: lastEventId as string }, on)
      await sleep(300)
      listener.close()
      takeAll(listener)
      lastEventId = listener.lastEventId ?? lastEventId
      await sleep(100)
    }
    await writing
    const last = await follow({ lastEventId: lastEventId as string })
    await last.until(hasId((await log({ type: 'x' })).id))
    takeAll(last)

    expect(written.length).toBeGreaterThan(600)
    expect(written.filter((id) => !known.has(id))).toEqual([])
  })

  async function writeSteadily(written: string[], forMs: number) {
    const pending: Promise<void>[] = []
    const start = Date.now()
    for (let count = 0; Date.now() < start + forMs; count++) {
      while (count / 200 > (Date.now() - start) / 1000) await sleep(2)
      const on = count % 2 === 0 ? service : second
      const body = { type: 'load', message: String(count) }
      pending.push(
        on.post('/api/activity', body).then((response) => {
          // On a slow machine a write may be rejected; an acknowledged one must be in the stream.
          if (response.status === 201) written.push(response.body.id)
          // 429: a hundred of them are in flight.
          else expect([429, 503]).toContain(response.status)
        }),
      )
    }
    await Promise.all(pending)
  }

  test('what is committed late arrives, and delays nothing', async () => {
    const late = new pg.Client({ connectionString: service.connectionString })
    await late.connect()
    const listener = await follow()
    await late.query('begin')
    const id = '01900000-0000-7000-8000-000000000001'
    await late.query(
      `insert into activity (id, type, actor_type, actor_name, metadata, created_at)
       values ($1, 'late', 'system', 'by hand', '{}', now())`,
      [id],
    )
    const soon = await log({ type: 'soon' })
    await listener.until(hasId(soon.id))
    const newcomer = await follow()
    await late.query('commit')
    await late.end()

    await listener.until(hasId(id))
    await newcomer.until(hasId(id))
    expect(listener.events.map(({ event }) => event)).toEqual(['soon', 'late'])
    expect(newcomer.events.map(({ event }) => event)).toEqual(['late'])
  })
})
