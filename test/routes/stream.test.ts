import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { type Listener, listenTo, type StreamEvent } from '../support/stream.ts'

let service: TestApp
let listeners: Listener[] = []
beforeAll(async () => {
  service = await startApp()
})
afterEach(() => {
  for (const listener of listeners) listener.close()
  listeners = []
})
afterAll(() => service.close())

const follow = async (options: Parameters<typeof listenTo>[1] = {}, on: TestApp = service) => {
  const listener = await listenTo(on, options)
  listeners.push(listener)
  return listener
}
const log = async (body: object, on: TestApp = service) => (await on.post('/api/activity', body)).body
const hasId = (id: string) => (events: StreamEvent[]) => events.some((event) => event.id === id)
/** Only stored events: a resumed stream also reports that unrecorded changes may have been missed. */
const kept = (events: StreamEvent[]) => events.filter(({ id }) => id !== null)
const idsOf = (events: StreamEvent[]) => kept(events).map(({ id }) => id)
const messages = (events: StreamEvent[]) => kept(events).map(({ data }) => data.message)

describe('the stream', () => {
  test('starts at once, before anything happens', async () => {
    const listener = await follow()

    expect(listener.status).toBe(200)
    expect(Object.fromEntries(listener.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(listener.headers.get('content-encoding')).toBeNull()
    while (listener.comments === 0) await sleep(5)
    expect(listener.events).toEqual([])
  })

  test('sends each activity with its id, its type and the same members as a read', async () => {
    const listener = await follow()
    const { body: task } = await service.post('/api/tasks', { title: 'A task' })
    const note = await log({ type: 'deploy.finished', message: 'a\r\nb\u2028c\n\nd', metadata: { a: [1] } })

    await listener.until(hasId(note.id))

    const [first, second] = listener.events
    expect([first?.event, first?.data.taskId]).toEqual(['task.created', task.id])
    expect(second).toEqual({ id: note.id, event: 'deploy.finished', data: note })
    expect(second?.data).toEqual((await service.get(`/api/activity/${note.id}`)).body)
  })

  test('sends nothing older, and everything after the headers', async () => {
    const before = await log({ type: 'x' })
    const listener = await follow()
    const after = await log({ type: 'x' })

    await listener.until(hasId(after.id))

    expect(listener.events.map(({ id }) => id)).toEqual([after.id])
    expect(listener.events).not.toContain(before.id)
  })

  test('of a project has only what is about it', async () => {
    const one = await service.given.project()
    const other = await service.given.project()
    const listener = await follow({ query: `?projectId=${one.id}` })

    await log({ type: 'x', message: 'service-wide' })
    await log({ type: 'x', message: 'other', projectId: other.id })
    const mine = await log({ type: 'x', message: 'mine', projectId: one.id })

    expect(messages(await listener.until(hasId(mine.id)))).toEqual(['mine'])
  })

  test('shows a bound key only its own project, also in a replay', async () => {
    const one = await service.given.project()
    const other = await service.given.project()
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: one.id })
    const first = await log({ type: 'x', message: 'first', projectId: one.id })
    await log({ type: 'x', message: 'other', projectId: other.id })
    await log({ type: 'x', message: 'service-wide' })
    const live = await follow({ key })
    const replayed = await follow({ key, lastEventId: first.id })

    await log({ type: 'x', message: 'other', projectId: other.id })
    const last = await log({ type: 'x', message: 'last', projectId: one.id })

    expect(messages(await live.until(hasId(last.id)))).toEqual(['last'])
    expect(messages(await replayed.until(hasId(last.id)))).toEqual(['first', 'last'])
    expect((await service.get(`/api/stream?projectId=${other.id}`, { key })).body.code).toBe(
      'project_not_found',
    )
  })

  test('sends changes that are not recorded, without an id', async () => {
    const project = await service.given.project()
    const other = await service.given.project()
    const listener = await follow({ query: `?projectId=${project.id}` })

    const { feed } = service.service
    for (const projectId of [other.id, project.id]) {
      feed.publish({ id: null, type: 'sync.progress', projectId, data: JSON.stringify({ projectId }) })
    }

    expect(await listener.until(({ length }) => length > 0)).toEqual([
      { id: null, event: 'sync.progress', data: { projectId: project.id } },
    ])
  })

  test('sends changes of projects, their lists and routing, to those who may see them', async () => {
    const { post, patch } = service
    const all = await follow()
    const { body: project } = await post('/api/projects', { name: 'Watched' })
    const { body: other } = await post('/api/projects', { name: 'Not watched' })
    const mine = await follow({ query: `?projectId=${project.id}` })
    const changes = [
      () => patch(`/api/projects/${project.id}`, { name: 'Renamed' }),
      () => post(`/api/projects/${other.id}/lists`, { name: 'Elsewhere' }),
      () => post(`/api/projects/${project.id}/archive`),
      () => post(`/api/projects/${project.id}/unarchive`),
      () => post(`/api/projects/${project.id}/lists`, { name: 'Later' }),
      (list: string) => patch(`/api/lists/${list}`, { position: 0 }),
      (list: string) => service.delete(`/api/lists/${list}`),
      () => post('/api/webhook-routing', { appMatch: 'watched', targetProjectId: project.id }),
      (rule: string) => patch(`/api/webhook-routing/${rule}`, { isActive: false }),
      (rule: string) => service.delete(`/api/webhook-routing/${rule}`),
      () => service.delete(`/api/projects/${project.id}`),
    ]
    let made = ''
    for (const change of changes) {
      const { status, body } = await change(made)
      expect(status).toBeLessThan(300)
      if (status === 201) made = body.id
    }

    const here = { id: null, event: 'project.changed', data: { projectId: project.id } }
    const there = { id: null, event: 'project.changed', data: { projectId: other.id } }
    const routing = { id: null, event: 'routing.changed', data: {} }
    const expected = [here, there, here, there, ...Array(5).fill(here), ...Array(3).fill(routing), here]
    // Activity of the same changes comes beside it.
    const passing = (events: StreamEvent[]) => events.filter(({ id }) => id === null)
    await all.until((events) => passing(events).length === expected.length)
    await mine.until((events) => passing(events).length === 7)
    expect(passing(all.events)).toEqual(expected)
    expect(passing(mine.events)).toEqual(Array(7).fill(here))
  })

  test('sends nothing about what did not change, or was rolled back', async () => {
    const { post, patch } = service
    const { body: project } = await post('/api/projects', { name: 'The same' })
    const { body: lists } = await service.get(`/api/projects/${project.id}/lists`)
    const listener = await follow({ query: `?projectId=${project.id}` })
    await patch(`/api/projects/${project.id}`, { name: 'The same' })
    await post(`/api/projects/${project.id}/unarchive`)
    await post(`/api/projects/${project.id}/lists`, { name: '' })
    await patch(`/api/lists/${lists.data[0].id}`, { name: 'Inbox', position: 0 })
    await post(`/api/projects/${project.id}/archive`)
    await listener.until(({ length }) => length > 0)
    expect(listener.events).toHaveLength(1)
  })

  test('of another instance sends changes of projects too, and asks to reload all after missed notices', async () => {
    const other = await startApp({ connectionString: service.connectionString })
    const listener = await follow({}, other)
    const { body: project } = await service.post('/api/projects', { name: 'From afar' })
    await listener.until((events) => events.some(({ data }) => data.projectId === project.id))
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: project.id })
    const bound = await follow({ key }, other)
    await service.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inlet listen' and datname = current_database()",
    )
    await listener.until((events) => events.some(({ data }) => data.projectId === null))
    await listener.until((events) => events.some(({ event }) => event === 'routing.changed'))
    await bound.until(({ length }) => length > 0)
    expect(bound.events).toEqual([{ id: null, event: 'project.changed', data: { projectId: null } }])
    listener.close()
    bound.close()
    await other.close()
  })

  test.each([
    ['a projectId that is none', '?projectId=1', undefined, 400, 'validation_failed', 'query.projectId'],
    ['an unknown name', '?lastEventId=1', undefined, 400, 'validation_failed', 'query.lastEventId'],
    ['an unknown project', `?projectId=${UNKNOWN_ID}`, undefined, 404, 'project_not_found', undefined],
    ['a Last-Event-ID that is none', '', '12', 400, 'validation_failed', 'header.last-event-id'],
    ['an empty Last-Event-ID', '', '', 400, 'validation_failed', 'header.last-event-id'],
    ['two in one', '', `${UNKNOWN_ID}, ${UNKNOWN_ID}`, 400, 'validation_failed', 'header.last-event-id'],
  ])('rejects %s', async (_, query, lastEventId, status, code, path) => {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const response = await service.get(`/api/stream${query}`, { headers })

    expect([response.status, response.body.code, response.body.errors?.[0].path]).toEqual([
      status,
      code,
      path,
    ])
  })

  test('does not support HEAD', async () => {
    const response = await service.call('HEAD', '/api/stream')

    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
  })
})

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

  test('replays from a minute before the last activity that was seen, oldest first', async () => {
    const now = Date.now()
    const project = await service.given.project()
    const ids = []
    for (const seconds of [200, 130, 119, 60, 1]) {
      ids.push(
        await service.given.activity({ projectId: project.id, createdAt: new Date(now - seconds * 1000) }),
      )
    }
    const listener = await follow({ query: `?projectId=${project.id}`, lastEventId: ids[3] as string })
    const last = await log({ type: 'x', projectId: project.id })

    await listener.until(hasId(last.id))

    expect(idsOf(listener.events)).toEqual([...ids.slice(2), last.id])
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

  test('replays at most a day for an id that never existed', async () => {
    const now = Date.now()
    const hours = (count: number) => new Date(now - count * 3_600_000)
    const project = await service.given.project()
    const given = (createdAt: Date) => service.given.activity({ projectId: project.id, createdAt })
    const long = await given(hours(50))
    const today = await given(hours(10))
    const recent = await given(hours(0))
    const eventsSince = async (lastEventId: string) => {
      const listener = await follow({ query: `?projectId=${project.id}`, lastEventId })
      await listener.until(hasId(recent))
      return idsOf(listener.events)
    }

    expect(await eventsSince(long)).toEqual([long, today, recent])
    expect(await eventsSince(UNKNOWN_ID)).toEqual([today, recent])
    expect(await eventsSince('ffffffff-ffff-7fff-bfff-ffffffffffff')).toEqual([recent])
    expect(await eventsSince('6fa459ea-ee8a-4ca4-894e-db77e160355e')).toEqual([today, recent])
    expect(await eventsSince(recent.toUpperCase())).toEqual([recent])
  })

  test('has what was restored from another cluster, whose transactions have higher numbers', async () => {
    const project = await service.given.project()
    const old = await service.given.activity({ projectId: project.id, transaction: '99999999999' })
    const listener = await follow({ query: `?projectId=${project.id}`, lastEventId: old })
    const last = await log({ type: 'x', projectId: project.id })

    await listener.until(hasId(last.id))

    expect(idsOf(listener.events)).toEqual([old, last.id])
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
      for (const { id } of listener.events) known.add(id ?? '')
    }
    const written: string[] = []
    const writing = writeSteadily(written, 4_000)

    let lastEventId: string | undefined
    for (let round = 0; round < 8; round++) {
      const on = round % 2 === 0 ? service : second
      const listener = await follow(lastEventId === undefined ? {} : { lastEventId }, on)
      await sleep(300)
      listener.close()
      takeAll(listener)
      lastEventId = idsOf(listener.events).at(-1) ?? lastEventId
      await sleep(100)
    }
    await writing
    const last = await follow({ lastEventId: lastEventId as string })
    await last.until(hasId(written.at(-1) as string))
    await sleep(300)
    takeAll(last)

    expect(written.length).toBeGreaterThan(600)
    expect(written.filter((id) => !known.has(id))).toEqual([])
    expect(new Set(idsOf(last.events)).size).toBe(kept(last.events).length)
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

describe('a stream ends', () => {
  test('when its key is revoked, expires, or is deleted', async () => {
    const soon = new Date(Date.now() + 1_500)
    const revoked = await service.given.key({ name: 'revoked', scopes: ['tasks:read'] })
    const expiring = await service.given.key({ scopes: ['tasks:read'], expiresAt: soon })
    const lasting = await service.given.key({ scopes: ['tasks:read'] })
    const [first, second, third] = [
      await follow({ key: revoked }),
      await follow({ key: expiring, lastEventId: UNKNOWN_ID }),
      await follow({ key: lasting }),
    ]
    await service.query(`update api_keys set revoked_at = now() where name = 'revoked'`)

    await Promise.race([isOver(first, second), sleep(15_000)])

    expect([first.isEnded, second.isEnded, third.isEnded]).toEqual([true, true, false])
  })

  test('when the secret it was opened with has ended, while the key has another', async () => {
    const old = await service.given.key({ name: 'rotated', scopes: ['tasks:read'] })
    const { body: me } = await service.get('/api/me', { key: old })
    const before = await follow({ key: old })
    const { body } = await service.post(`/api/keys/${me.id}/rotate`, { overlapSeconds: 0 })
    const after = await follow({ key: body.key })

    await expect.poll(() => before.isEnded, { timeout: 30_000 }).toBe(true)

    expect(after.isEnded).toBe(false)
  })

  test('when its instance shuts down, and quickly', async () => {
    const instance = await startApp({ connectionString: service.connectionString })
    const live = await follow({}, instance)
    const replayed = await follow({ lastEventId: UNKNOWN_ID }, instance)
    const silent = await neverRead(instance)
    await service.query(ACTIVITIES, [1_000, 4_000])
    await sleep(300)

    const began = Date.now()
    await instance.app.close()

    expect(Date.now() - began).toBeLessThan(5_000)
    await isOver(live, replayed)
    silent.destroy()
    await instance.close()
  })

  test('when it is not read, while others miss nothing', async () => {
    const project = await service.given.project()
    const sockets: Socket[] = []
    service.app.server.on('connection', (socket) => sockets.push(socket))
    const silent = await neverRead(service, `?projectId=${project.id}`)
    const listener = await follow({ query: `?projectId=${project.id}` })
    const [served] = sockets as [Socket]
    let most = 0
    const watching = setInterval(() => {
      most = Math.max(most, served.writableLength)
    }, 5)

    for (let round = 0; round < 10; round++) await service.query(ACTIVITIES_OF, [500, 4_000, project.id])
    await listener.until(({ length }) => length === 5_000, 20_000)

    await expect.poll(() => served.destroyed, { timeout: 20_000 }).toBe(true)
    clearInterval(watching)
    expect(most).toBeLessThan(1024 * 1024)
    expect(new Set(idsOf(listener.events)).size).toBe(5_000)
    silent.destroy()
  })
})

/** $1 entries with a text of $2 characters. */
const ACTIVITIES_OF = `
  insert into activity (id, type, message, project_id, actor_type, actor_name, metadata, created_at)
  select gen_random_uuid(), 'load', repeat('x', $2::integer), $3, 'system', 'by hand', '{}', now()
  from generate_series(1, $1::integer)`
const ACTIVITIES = ACTIVITIES_OF.replace('$3', 'null')

async function isOver(...streams: Listener[]): Promise<void> {
  while (!streams.every(({ isEnded: isOver }) => isOver)) await sleep(20)
}

/** Opens a stream over a socket that takes the headers and then reads no more. */
async function neverRead(on: TestApp, query = ''): Promise<Socket> {
  const socket = connect(Number(new URL(on.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET /api/stream${query} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${on.adminKey}\r\n\r\n`)
  await once(socket, 'data')
  socket.pause()
  return socket
}
