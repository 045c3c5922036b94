import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender } from '../support/feedback.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

const DAY_MS = 86_400_000

let service: TestApp
let send: ReturnType<typeof sender>
let ageMs = 0
beforeAll(async () => {
  const clock = { ...systemClock(), now: () => new Date(Date.now() - ageMs) }
  service = await startApp({ clock, env: { WEBHOOK_SECRET: 'a-secret-of-16-characters' } })
  send = sender(service.url, 'a-secret-of-16-characters')
})
afterAll(() => service.close())

const inbox = async (query = '') => (await service.get(`/api/analytics/events${query}`)).body.data
const eventOf = async (id: string) => (await service.get(`/api/analytics/events/${id}`)).body
const replay = (id: string) => service.post(`/api/analytics/events/${id}/replay`)
const taskOf = async (id: string) => (await service.get(`/api/tasks/${id}`)).body
const tasksFor = (distinctId: string) =>
  service.query(`select id from tasks where metadata ->> 'distinctId' = $1`, [distinctId])

async function project(name = `Project ${randomUUID()}`) {
  return (await service.post('/api/projects', { name })).body
}
const rule = async (targetProjectId: string, appMatch: string, values: object = {}) =>
  (await service.post('/api/webhook-routing', { appMatch, targetProjectId, ...values })).body

/** As a version that took less left it behind. */
async function rejectedEarlier(event: object): Promise<string> {
  await send({ ...event, timestamp: 'no time' })
  const [{ id }] = await inbox('?outcome=rejected&limit=1')
  await service.query('update feedback_events set payload = $1 where id = $2', [JSON.stringify(event), id])
  return id
}

describe('the inbox', () => {
  test('lists newest first, page by page, by outcome', async () => {
    const uuids = Array.from({ length: 5 }, () => randomUUID())
    for (const uuid of uuids) await send(feedback({}, { uuid, event: 'other' }))
    await send(feedback())
    await sleep(5)

    const first = (await service.get('/api/analytics/events?outcome=ignored&limit=3')).body
    const second = (
      await service.get(`/api/analytics/events?outcome=ignored&limit=3&cursor=${first.nextCursor}`)
    ).body

    expect([...first.data, ...second.data].map(({ uuid }) => uuid)).toEqual(uuids.toReversed())
    expect(second.nextCursor).toBeNull()
    expect((await inbox('?limit=1'))[0].outcome).toBe('accepted')
  })

  test.each([
    ['?outcome=lost', 'query.outcome'],
    ['?limit=201', 'query.limit'],
    ['?nope=1', 'query.nope'],
    ['?cursor=abc', 'query.cursor'],
  ])('rejects %s by name', async (query, path) => {
    const response = await service.get(`/api/analytics/events${query}`)
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('requires an admin key for all projects', async () => {
    const { id } = await project()
    const bound = await service.given.key({ projectId: id })
    const weak = await service.given.key({ scopes: ['tasks:read', 'tasks:write'] })
    for (const key of [bound, weak]) {
      for (const [method, path] of [
        ['GET', '/api/analytics/events'],
        ['GET', `/api/analytics/events/${UNKNOWN_ID}`],
        ['POST', `/api/analytics/events/${UNKNOWN_ID}/replay`],
        ['GET', '/api/webhook-routing'],
        ['POST', '/api/webhook-routing/test'],
      ] as const) {
        const response = await service.call(method, path, { key })
        expect([path, response.status, response.body.code]).toEqual([path, 403, 'insufficient_scope'])
      }
    }
  })

  test('is empty without events', async () => {
    for (const response of [
      await service.get(`/api/analytics/events/${UNKNOWN_ID}`),
      await replay(UNKNOWN_ID),
    ]) {
      expect([response.status, response.body.code]).toEqual([404, 'event_not_found'])
    }
    expect((await replay('no-uuid')).status).toBe(400)
  })

  test('keeps payloads for 30 days and ignored events for 7', async () => {
    const days = async (count: number) => {
      ageMs = count * DAY_MS
      const { body } = await send(feedback())
      await send(feedback({}, { event: 'other', uuid: `${count} days` }))
      await send(feedback({}, { distinct_id: null, uuid: `${count} days` }))
      ageMs = 0
      return body.eventId
    }
    const [older, old, young] = [await days(31), await days(29), await days(6)]

    await service.service.cleanup.cleanUp()

    expect(await eventOf(older)).toMatchObject({ outcome: 'accepted', payload: null })
    expect((await eventOf(old)).payload).not.toBeNull()
    expect((await eventOf(young)).payload).not.toBeNull()
    const left = async (outcome: string) =>
      (await inbox(`?limit=200&outcome=${outcome}`))
        .filter(({ uuid }: { uuid: string }) => uuid?.endsWith('days'))
        .map(({ uuid, payload }: { uuid: string; payload: unknown }) => [uuid, payload !== null])
    expect(await left('ignored')).toEqual([['6 days', false]])
    expect(await left('rejected')).toEqual([
      ['6 days', true],
      ['29 days', true],
      ['31 days', false],
    ])
  })
})

describe('a replay', () => {
  test('of an event that is still invalid returns its errors, and the event stays rejected', async () => {
    await send(feedback({ sentiment: 'angry' }))
    const [{ id }] = await inbox('?outcome=rejected&limit=1')

    const response = await replay(id)

    expect(response).toMatchObject({ status: 200, body: { id, outcome: 'rejected', taskId: null } })
    expect(response.body.errors).toMatchObject([{ path: '/properties/sentiment' }])
  })

  test('of an event that is now valid creates its task, once', async () => {
    const event = feedback({}, { distinct_id: randomUUID() })
    const id = await rejectedEarlier(event)

    const responses = await Promise.all(Array.from({ length: 10 }, () => replay(id)))

    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const [{ body }] = responses as [(typeof responses)[0]]
    expect(body).toMatchObject({ id, outcome: 'accepted', errors: null, routing: { matchedOn: 'default' } })
    expect(await tasksFor(event.distinct_id)).toEqual([{ id: body.taskId }])
    expect((await taskOf(body.taskId)).source).toBe('analytics')
    expect(await send(event)).toMatchObject({
      status: 200,
      body: { eventId: id, taskId: body.taskId, duplicate: true },
    })
  })

  test('of an event that was fixed and sent again returns that task', async () => {
    const event = feedback({}, { distinct_id: randomUUID() })
    const id = await rejectedEarlier(event)
    const { taskId } = (await send(event)).body

    expect((await replay(id)).body).toMatchObject({ id, outcome: 'accepted', taskId })
    expect((await replay(id)).body).toMatchObject({ id, outcome: 'accepted', taskId })
    expect(await tasksFor(event.distinct_id)).toHaveLength(1)
  })

  test('that races with the same event creates one task', async () => {
    for (let round = 0; round < 10; round++) {
      const event = feedback({}, { distinct_id: randomUUID() })
      const id = await rejectedEarlier(event)
      const [replayed, sent] = await Promise.all([replay(id), send(event)])
      expect([replayed.status, [200, 201].includes(sent.status)]).toEqual([200, true])
      expect(replayed.body.taskId).toBe(sent.body.taskId)
      expect(await tasksFor(event.distinct_id)).toHaveLength(1)
    }
  })

  test('of an event with a task keeps the task, and moves it by the present routing', async () => {
    const target = await project()
    const { body } = await send(feedback({ app_id: 'app.move' }))
    const made = await rule(target.id, 'app.move', { name: 'Moving' })

    const response = await replay(body.eventId)
    const again = await replay(body.eventId)

    expect(response.body).toMatchObject({
      taskId: body.taskId,
      projectId: target.id,
      routing: { ruleId: made.id, ruleName: 'Moving', matchedOn: 'app' },
    })
    expect(again.body).toEqual(response.body)
    const task = await taskOf(body.taskId)
    expect(task).toMatchObject({ projectId: target.id, version: 2 })
    expect((await service.get(`/api/lists/${task.listId}`)).body.name).toBe('User Feedback')
    const { data } = (await service.get(`/api/activity?taskId=${body.taskId}&type=task.updated`)).body
    expect(data).toMatchObject([
      {
        actor: { type: 'key' },
        metadata: { changes: { projectId: { from: body.projectId, to: target.id } } },
      },
    ])
    expect(await send({ ...feedback({ app_id: 'app.move' }) })).toMatchObject({
      body: { projectId: target.id },
    })
  })

  test('leaves a task where a person moved it inside the same project', async () => {
    const { body } = await send(feedback())
    const list = (await service.post(`/api/projects/${body.projectId}/lists`, { name: 'Triaged' })).body
    await service.patch(`/api/tasks/${body.taskId}`, { listId: list.id })

    expect((await replay(body.eventId)).status).toBe(200)
    expect(await taskOf(body.taskId)).toMatchObject({ listId: list.id, version: 2 })
  })

  test('uses the metadata of the task when the payload is deleted', async () => {
    const target = await project()
    const { body } = await send(feedback({ bundle_id: 'com.kept' }))
    await service.query('update feedback_events set payload = null where id = $1', [body.eventId])
    await rule(target.id, 'com.kept')
    expect((await replay(body.eventId)).body).toMatchObject({ projectId: target.id, payload: null })
  })

  test('of an event whose task was deleted does not restore it', async () => {
    const event = feedback({}, { distinct_id: randomUUID() })
    const { body } = await send(event)
    await service.delete(`/api/tasks/${body.taskId}`)
    expect(await replay(body.eventId)).toMatchObject({ status: 200, body: { taskId: body.taskId } })
    expect((await service.get(`/api/tasks/${body.taskId}`)).status).toBe(404)
    expect(await tasksFor(event.distinct_id)).toHaveLength(1)
  })

  test('does not write into an archived project', async () => {
    const target = await project()
    const made = await rule(target.id, 'app.archived')
    const { body } = await send(feedback({ app_id: 'app.archived' }))
    await service.post(`/api/projects/${target.id}/archive`)
    const response = await replay(body.eventId)
    expect([response.status, response.body.code]).toEqual([409, 'project_archived'])
    await service.delete(`/api/webhook-routing/${made.id}`)
  })

  test('of an ignored event, or of one with a truncated payload, is rejected', async () => {
    await send(feedback({}, { event: 'other' }))
    await send({ event: 'feedback_submitted', long: 'x'.repeat(300_000) })
    for (const outcome of ['ignored', 'rejected']) {
      const [{ id }] = await inbox(`?outcome=${outcome}&limit=1`)
      const response = await replay(id)
      expect([response.status, response.body.code]).toEqual([409, 'event_not_replayable'])
    }
  })
})

describe('the email address of a user', () => {
  const ADDRESS = 'jane.doe+secret@example.org'

  test('is in the metadata and in the inbox, and nowhere else', async () => {
    const lines: string[] = []
    const { pino } = await import('pino')
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) })
    const watched = await startApp({
      connectionString: service.connectionString,
      logger,
      env: { WEBHOOK_SECRET: 'a-secret-of-16-characters' },
    })
    try {
      const sendWatched = sender(watched.url, 'a-secret-of-16-characters')
      const note = `Write to me: ${ADDRESS.toUpperCase()}`
      const properties = { user_email: ADDRESS, note, contact: [ADDRESS], trigger: ADDRESS }
      const responses = [
        await sendWatched(feedback(properties)),
        await sendWatched(feedback({ ...properties, sentiment: ADDRESS })),
        await sendWatched(feedback(properties, { timestamp: ADDRESS, distinct_id: [ADDRESS] })),
        await sendWatched({ ...feedback(properties), event: { [ADDRESS]: 1 } }),
        await sendWatched(`{"event":"feedback_submitted","properties":{"user_email":"${ADDRESS}"`),
        await sendWatched(`{"user_email":"${ADDRESS}",}`),
        await service.post('/api/webhook-routing/test', feedback(properties)),
        await service.post('/api/webhook-routing/test', feedback({ ...properties, sentiment: ADDRESS })),
      ]
      expect(responses.map(({ status }) => status)).toEqual([201, 400, 400, 400, 400, 400, 200, 400])

      // A failure of ours, with the address among the parameters of the statement.
      await service.query(`alter table tasks add constraint refused check (title not like 'Refused%')`)
      const failed = await sendWatched(feedback({ ...properties, note: 'Refused, all of it' }))
      await service.query('alter table tasks drop constraint refused')
      expect(failed.status).toBe(500)
      await service.query('alter table feedback_events rename to feedback_events_gone')
      const broken = await sendWatched(feedback({ ...properties, sentiment: 'wrong' }))
      await service.query('alter table feedback_events_gone rename to feedback_events')
      expect(broken.status).toBe(500)

      const { taskId } = responses[0]?.body ?? {}
      const task = await taskOf(taskId)
      const { metadata, ...rest } = task
      const seen = [
        ...lines,
        ...[...responses, failed, broken].map(({ body }) => JSON.stringify(body)),
        JSON.stringify(rest),
        JSON.stringify((await service.get('/api/activity?limit=200')).body),
        JSON.stringify((await service.get('/api/context')).body),
        JSON.stringify(await mcp('get_task', { id: taskId })),
        JSON.stringify(await mcp('list_tasks', {})),
        JSON.stringify(await mcp('get_context', {})),
      ]
      expect(seen.filter((text) => text.toLowerCase().includes('jane.doe'))).toEqual([])
      expect(lines.some((line) => line.includes('request failed'))).toBe(true)
      expect(JSON.stringify(metadata)).toContain(ADDRESS)
      expect(JSON.stringify(await eventOf(responses[0]?.body.eventId))).toContain(ADDRESS)
    } finally {
      await watched.close()
    }
  })

  async function mcp(name: string, args: object) {
    const response = await service.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      { headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' } },
    )
    expect(JSON.stringify(response.body)).toMatch(/result/)
    return response.body
  }
})
