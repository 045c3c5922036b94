import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender, untilAvailable } from '../support/feedback.ts'
import { UUID } from '../support/patterns.ts'
import { sendRaw } from '../support/raw.ts'

let service: TestApp
let twin: TestApp
let send: ReturnType<typeof sender>
let sendToTwin: ReturnType<typeof sender>
beforeAll(async () => {
  const env = { WEBHOOK_SECRET: 'secret-of-the-environment' }
  service = await startApp({ env })
  twin = await startApp({ env, connectionString: service.connectionString })
  send = sender(service.url, 'secret-of-the-environment')
  sendToTwin = sender(twin.url, 'secret-of-the-environment')
})
afterAll(async () => {
  await twin.close()
  await service.close()
})

const taskOf = async (id: string) => (await service.get(`/api/tasks/${id}`)).body
const eventOf = async (id: string) => (await service.get(`/api/analytics/events/${id}`)).body
const newest = async (outcome: string) =>
  (await service.get(`/api/analytics/events?limit=1&outcome=${outcome}`)).body.data[0]

describe('feedback', () => {
  test('becomes a task in the list "User Feedback" of the default project', async () => {
    const event = feedback({ note: 'The export button does nothing.', surface: 'web_app' })

    const response = await send(event)

    expect(response.status).toBe(201)
    const { taskId, eventId, projectId, listId } = response.body
    expect(response.body).toEqual({
      accepted: true,
      eventId: expect.stringMatching(UUID),
      taskId: expect.stringMatching(UUID),
      projectId: expect.stringMatching(UUID),
      listId: expect.stringMatching(UUID),
      duplicate: false,
      routing: { ruleId: null, matchedOn: 'default' },
    })
    expect(response.headers.get('location')).toBe(`/api/tasks/${taskId}`)
    expect(await taskOf(taskId)).toMatchObject({
      title: 'The export button does nothing.',
      status: 'open',
      priority: 'high',
      source: 'analytics',
      descriptionReadOnly: true,
      projectId,
      listId,
      labels: ['frustrated', 'manual'],
      createdBy: { type: 'analytics', id: null },
      metadata: { distinctId: 'user-1', properties: event.properties },
    })
    expect((await service.get(`/api/lists/${listId}`)).body).toMatchObject({
      name: 'User Feedback',
      projectId,
    })
    const { data } = (await service.get(`/api/activity?taskId=${taskId}`)).body
    expect(data).toMatchObject([
      {
        type: 'feedback.received',
        projectId,
        actor: { type: 'analytics', id: null },
        metadata: { eventId, ruleId: null, ruleName: null, matchedOn: 'default' },
      },
      { type: 'task.created', projectId },
    ])
    expect(await eventOf(eventId)).toMatchObject({
      uuid: event.uuid,
      outcome: 'accepted',
      duplicates: 0,
      taskId,
      projectId,
      errors: null,
      payload: event,
      payloadCut: false,
    })
  })

  test('is accepted in the platform’s own shape as well', async () => {
    const event = feedback({ note: 'Nested' })
    const response = await send({ event, person: { properties: { email: 'x' } } })
    expect(response.status).toBe(201)
    expect((await taskOf(response.body.taskId)).title).toBe('Nested')
    expect((await eventOf(response.body.eventId)).payload).toEqual({
      event,
      person: { properties: { email: 'x' } },
    })
  })

  test('that is repeated gets the same ids, and is counted', async () => {
    const event = feedback()
    const first = await send(event)

    const repeats = [await send(event), await send({ event }), await sendToTwin(event)]

    for (const { status, body } of repeats) {
      expect([status, body]).toEqual([200, { ...first.body, duplicate: true }])
    }
    expect((await eventOf(first.body.eventId)).duplicates).toBe(3)
  })

  test('without a uuid is identified by its content', async () => {
    const { uuid: _, ...event } = feedback({ note: randomUUID() })
    const { properties, ...others } = event
    const first = await send(event)

    const again = await send({
      properties: Object.fromEntries(Object.entries(properties).reverse()),
      ...others,
    })
    const other = await send({ ...event, distinct_id: 'user-2' })

    expect(again).toMatchObject({ status: 200, body: { taskId: first.body.taskId, duplicate: true } })
    expect(other.status).toBe(201)
  })

  test('whose task was deleted is still a repeat', async () => {
    const event = feedback()
    const { taskId } = (await send(event)).body
    await service.delete(`/api/tasks/${taskId}`)
    expect(await send(event)).toMatchObject({ status: 200, body: { taskId, duplicate: true } })
    await service.query('delete from tasks where id = $1', [taskId])
    expect(await send(event)).toMatchObject({ status: 200, body: { taskId, duplicate: true } })
  })

  test('needs no UUID anywhere', async () => {
    const response = await send(
      feedback({ project_id: 'p', app_id: 'a' }, { uuid: 'é'.repeat(100_000), distinct_id: '4711' }),
    )
    expect(response.status).toBe(201)
    expect((await eventOf(response.body.eventId)).uuid).toBe('é'.repeat(255))
  })
})

describe('concurrent deliveries', () => {
  const tally = (responses: { status: number }[]) =>
    Object.fromEntries(
      [...Map.groupBy(responses, ({ status }) => status)].map(([key, all]) => [key, all.length]),
    )
  /** As a sender does it: what is 503 comes again, the same. */
  const sendToEither = (n: number, event: object) => untilAvailable(() => (n % 2 ? sendToTwin : send)(event))
  const times = <T>(work: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: 20 }, (_, n) => work(n)))

  test('of 20 copies of one event create one task, on two instances', async () => {
    const event = feedback()
    const responses = await times((n) => sendToEither(n, event))

    expect(tally(responses)).toEqual({ 201: 1, 200: 19 })
    expect(new Set(responses.map(({ body }) => body.taskId)).size).toBe(1)
    expect((await eventOf(responses[0]?.body.eventId)).duplicates).toBe(19)
    expect(
      await service.query(
        `select count(*)::int from activity where type = 'feedback.received' and task_id = $1`,
        [responses[0]?.body.taskId],
      ),
    ).toEqual([{ count: 1 }])
  })

  test('of 20 events for a project without the list create one list, on two instances', async () => {
    const { id, name } = await service.given.project({ name: `Racing ${randomUUID()}` })
    const responses = await times((n) => sendToEither(n, feedback({ project_name: name })))

    expect(tally(responses)).toEqual({ 201: 20 })
    const { data } = (await service.get(`/api/projects/${id}/lists`)).body
    expect(data).toMatchObject([
      { name: 'Inbox', position: 0, openCount: 0 },
      { name: 'User Feedback', position: 1, openCount: 20 },
    ])
  })

  test('during the deletion of the list lose no event', async () => {
    const { id, name, inbox } = await service.given.project({ name: `Deleting ${randomUUID()}` })
    const remove = async () => {
      const { data } = (await service.get(`/api/projects/${id}/lists`)).body
      for (const list of data) {
        if (list.name === 'User Feedback') await service.delete(`/api/lists/${list.id}?moveTo=${inbox.id}`)
      }
    }
    const responses = await times(async (n) => {
      if (n % 4 === 3) await remove()
      return sendToEither(n, feedback({ project_name: name }))
    })

    expect(tally(responses)).toEqual({ 201: 20 })
    expect(await service.query('select count(*)::int from tasks where project_id = $1', [id])).toEqual([
      { count: 20 },
    ])
  })

  test('of many repeats and new events keep each with its own task', async () => {
    const events = Array.from({ length: 40 }, () => feedback())
    const flood = [...events, ...events, ...events].sort(() => Math.random() - 0.5)
    const responses = await Promise.all(flood.map((event, n) => sendToEither(n, event)))

    const tasks = new Map(flood.map((event, n) => [event.uuid, responses[n]?.body.taskId]))
    expect(tally(responses)).toEqual({ 201: 40, 200: 80 })
    expect(responses.map(({ body }) => body.taskId)).toEqual(flood.map(({ uuid }) => tasks.get(uuid)))
    expect(new Set(tasks.values()).size).toBe(40)
  })
})

describe('the list "User Feedback"', () => {
  test('is the oldest with that exact name, also one created by a user; a renamed one is another', async () => {
    const { id, name } = await service.given.project({ name: `By hand ${randomUUID()}` })
    const at = (ms: number) => ({ createdAt: new Date(Date.now() - ms) })
    await service.given.list(id, { name: 'user feedback', ...at(9_000) })
    await service.given.list(id, { name: 'User Feedback', ...at(3_000) })
    const oldest = await service.given.list(id, { name: 'User Feedback', ...at(6_000) })

    const first = await send(feedback({ project_name: name }))
    await service.patch(`/api/lists/${oldest.id}`, { name: 'Feedback of users' })
    const second = await send(feedback({ project_name: name }))

    expect(first.body.listId).toBe(oldest.id)
    expect(second.body.listId).not.toBe(oldest.id)
  })
})

describe('a rejected delivery', () => {
  test('gets all its errors, and is kept', async () => {
    const body = { event: { event: 'feedback_submitted', uuid: 'wrong-1', properties: { trigger: 5 } } }

    const response = await send(body)

    expect(response).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(response.body.errors.map(({ path }: { path: string }) => path)).toEqual([
      '/event/distinct_id',
      '/event/timestamp',
      '/event/properties/sentiment',
      '/event/properties/trigger',
      '/event/properties/app_version',
    ])
    expect(await newest('rejected')).toMatchObject({
      uuid: 'wrong-1',
      taskId: null,
      projectId: null,
      routing: null,
      errors: response.body.errors,
      payload: body,
      payloadCut: false,
    })
  })

  test('may be fixed and sent again with the same uuid', async () => {
    const event = feedback()
    expect((await send({ ...event, timestamp: 'now' })).status).toBe(400)
    expect((await send(event)).status).toBe(201)
    expect((await send(event)).status).toBe(200)
  })

  test('is kept up to 256 KiB', async () => {
    const body = { event: 'feedback_submitted', long: '😀'.repeat(100_000) }
    expect((await send(body)).status).toBe(400)
    const { payload, payloadCut } = await newest('rejected')
    expect(payloadCut).toBe(true)
    expect(JSON.stringify(body).startsWith(payload)).toBe(true)
    expect(Buffer.byteLength(payload)).toBeGreaterThan(262_140)
    expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(262_144)
  })

  test('is only counted when it is not JSON', async () => {
    const countEvents = async () =>
      (await service.query('select count(*)::int from feedback_events'))[0].count
    const before = await countEvents()

    const response = await send('{"event":"feedback_submitted","user_email":"ann@example.org"')

    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
    expect(response.body.detail).not.toContain('ann')
    expect(await countEvents()).toBe(before)
    expect(await service.query('select sum(count)::int as count from feedback_unreadable')).toEqual([
      { count: 1 },
    ])
  })

  test('may be an empty body: everything is missing', async () => {
    const headers = { authorization: 'Bearer secret-of-the-environment' }
    const response = await sendRaw(service.url, { method: 'POST', path: '/api/analytics/webhook', headers })
    expect([response.status, response.body.errors.length]).toEqual([400, 4])
  })

  test('may be a body over 2 MiB; one just under it becomes a task', async () => {
    const sized = (size: number) => {
      const event = feedback({ note: '' })
      const rest = size - JSON.stringify(event).length
      return JSON.stringify({ ...event, properties: { ...event.properties, note: 'n'.repeat(rest) } })
    }
    expect(await send(sized(2 * 1024 * 1024 + 1))).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    })
    const response = await send(sized(2 * 1024 * 1024))
    expect(response.status).toBe(201)
    const task = await taskOf(response.body.taskId)
    expect(task.metadata.properties.note).toBe(`${'n'.repeat(65_536)}…`)
    expect(task.description).toContain('This task was cut')
    expect((await eventOf(response.body.eventId)).payloadCut).toBe(true)
  })
})

describe('an unusual delivery', () => {
  test.each([
    ['application/json; charset=utf-8'],
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['nonsense'],
    [undefined],
  ])('is accepted with the content type %s', async (type) => {
    const headers = { authorization: 'Bearer secret-of-the-environment', 'content-type': type }
    const body = JSON.stringify(feedback())
    const response = await sendRaw(service.url, {
      method: 'POST',
      path: '/api/analytics/webhook?x=1',
      headers,
      body,
    })
    expect(response.status).toBe(201)
  })

  test('keeps a thousand properties, with any names and any characters', async () => {
    const properties = {
      ...Object.fromEntries(
        Array.from({ length: 990 }, (_, n) => [`property_${n}`, { n, list: [null, true] }]),
      ),
      'with.dots': 1,
      'with 😀': '😀',
      constructor: 'c',
      toString: 1,
      '': 'empty',
      'a\0b': 'x\0y\ud800',
    }
    const body = JSON.stringify(feedback(properties)).replace(
      '"sentiment"',
      '"__proto__":{"polluted":1},"sentiment"',
    )

    const response = await send(body)

    expect(response.status).toBe(201)
    const [row] = await service.query(`select metadata -> 'properties' as kept from tasks where id = $1`, [
      response.body.taskId,
    ])
    expect(Object.keys(row.kept)).toHaveLength(990 + 6 + 3 + 1)
    expect(row.kept).toMatchObject({
      'with.dots': 1,
      'with 😀': '😀',
      constructor: 'c',
      '': 'empty',
      ab: 'xy\ufffd',
    })
    expect(Object.getOwnPropertyDescriptor(row.kept, '__proto__')?.value).toEqual({ polluted: 1 })
    const text = await (
      await fetch(`${service.url}/api/tasks/${response.body.taskId}`, {
        headers: { 'x-api-key': service.adminKey },
      })
    ).text()
    expect(text).toContain('"__proto__":{"polluted":1}')
  })

  test('is accepted and truncated with five thousand properties, of which the inbox keeps more', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`property_${n}`, n]))
    const response = await send(
      feedback({ ...many, user_email: 'jane@example.org', note: 'For Jane@example.org' }),
    )
    expect(response.status).toBe(201)
    const { metadata, title, description } = await taskOf(response.body.taskId)
    expect(Object.keys(metadata.properties)).toHaveLength(1_000)
    expect(metadata.properties.user_email).toBe('jane@example.org')
    expect(title).toBe('For [user_email]')
    expect(description).toMatch(/4005 more properties are not shown/)
    const { payload, payloadCut } = await eventOf(response.body.eventId)
    expect([payloadCut, payload.properties.property_4999]).toEqual([false, 4_999])
  })

  test('keeps values nested as deeply as 2 MiB allow', async () => {
    const deep = `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`
    const response = await send(
      JSON.stringify(feedback()).replace('"sentiment"', `"deep":${deep},"sentiment"`),
    )
    expect(response.status).toBe(201)
  })

  test.each([
    '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '2026-11-21T10:15:30+02:00',
    '9999-12-31T23:59:59-12:00',
  ])('may have a time like %s', async (timestamp) => {
    const response = await send(feedback({}, { timestamp }))
    expect(response.status).toBe(201)
    const { metadata } = await taskOf(response.body.taskId)
    expect(metadata.occurredAt).toBe(new Date(timestamp).toISOString())
  })

  test('with another event name is ignored, listed without payload, and creates no task', async () => {
    const response = await send({ event: '$pageview', uuid: 'p1', properties: 'whatever' })
    expect([response.status, response.body]).toEqual([200, { accepted: false, reason: 'event_ignored' }])
    expect(await newest('ignored')).toMatchObject({ uuid: 'p1', payload: null, errors: null, taskId: null })
  })
})

describe('the receiver', () => {
  const post = (headers: Record<string, string>, body = '{"broken') =>
    service.call('POST', '/api/analytics/webhook', { key: null, headers, body })

  test.each<[string, Record<string, string>, string]>([
    ['nothing', {}, 'missing_credentials'],
    ['an API key', { 'x-api-key': 'x'.repeat(40) }, 'missing_credentials'],
    ['another scheme', { authorization: 'Basic c2VjcmV0' }, 'missing_credentials'],
    ['no secret', { authorization: 'Bearer ' }, 'missing_credentials'],
    ['a wrong secret', { authorization: 'Bearer wrong' }, 'invalid_credentials'],
    ['half of the secret', { authorization: 'Bearer secret-of-the' }, 'invalid_credentials'],
  ])('rejects %s before it validates the body', async (_, headers, code) => {
    for (const body of ['{"broken', JSON.stringify(feedback()), 'x'.repeat(3 * 1024 * 1024)]) {
      const response = await post(headers, body)
      expect([response.status, response.body.code]).toEqual([401, code])
      expect(response.headers.get('www-authenticate')).toBe('ApiKey')
    }
  })

  test('accepts every active secret, in any case of the scheme, and no revoked one', async () => {
    const made = (await service.post('/api/webhook-secrets')).body
    const next = (await service.post(`/api/webhook-secrets/${made.id}/rotate`, { overlapSeconds: 60 })).body
    for (const secret of ['secret-of-the-environment', made.secret, next.secret]) {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const response = await post({ authorization: `${scheme} ${secret}` }, JSON.stringify(feedback()))
        expect(response.status).toBe(201)
      }
    }
    await service.delete(`/api/webhook-secrets/${next.id}`)
    expect((await post({ authorization: `Bearer ${next.secret}` })).status).toBe(401)
    expect((await post({ authorization: `Bearer ${made.secret}` })).status).toBe(400)
  })

  test('limits guessed secrets, accepts valid ones, and applies its own limit per minute', async () => {
    const limited = await startApp({
      connectionString: service.connectionString,
      env: {
        WEBHOOK_SECRET: 'right-secret-of-the-test',
        RATE_LIMIT_FAILURES_PER_MINUTE: '3',
        RATE_LIMIT_RECEIVER_PER_MINUTE: '5',
      },
    })
    try {
      const statuses = async (secret: string, count: number) => {
        const found: number[] = []
        for (let n = 0; n < count; n++)
          found.push((await sender(limited.url, secret)({ event: 'other' })).status)
        return found
      }
      expect(await statuses('wrong', 5)).toEqual([401, 401, 401, 429, 429])
      expect(await statuses('right-secret-of-the-test', 6)).toEqual([200, 200, 200, 200, 200, 429])
      const response = await sender(limited.url, 'right-secret-of-the-test')({ event: 'other' })
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    } finally {
      await limited.close()
    }
  })
})
