import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { deliveryOf } from '../support/deliveries.ts'
import { feedback, newestEvent, type sender, startReceiver } from '../support/feedback.ts'
import { sendRaw } from '../support/raw.ts'

let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  ;({ service, send } = await startReceiver())
})
afterAll(() => service.close())

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
    expect(await newestEvent(service, 'rejected')).toMatchObject({
      senderId: 'wrong-1',
      tasks: [],
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
    const { payload, payloadCut } = await newestEvent(service, 'rejected')
    expect(payloadCut).toBe(true)
    expect(JSON.stringify(body).startsWith(payload)).toBe(true)
    expect(Buffer.byteLength(payload)).toBeGreaterThan(262_140)
    expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(262_144)
  })

  test('is only counted when it is not JSON', async () => {
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

  test('may be a body over 1 MiB; one just under it becomes a task', async () => {
    const sized = (size: number) => {
      const event = feedback({ note: '' })
      const rest = size - JSON.stringify(event).length
      return JSON.stringify({ ...event, properties: { ...event.properties, note: 'n'.repeat(rest) } })
    }
    expect(await send(sized(1024 * 1024 + 1))).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    })
    const response = await send(sized(1024 * 1024))
    expect(response.status).toBe(201)
    const task = await service.task(response.body.taskId)
    expect(task.metadata.properties.note).toBe(`${'n'.repeat(65_536)}…`)
    expect(task.description).toContain('This task was truncated')
    expect((await deliveryOf(service, response.body.deliveryId)).payloadCut).toBe(true)
  })

  test.each([
    ['too_many', `[${Array(10_000).fill('{}').join()}]`],
    ['too_deep', `${'['.repeat(1_000)}${']'.repeat(1_000)}`],
  ])('may have more values or levels than any valid event: %s', async (code, nested) => {
    const countAll = async () => (await service.query('select count(*)::int as n from deliveries'))[0].n
    const before = await countAll()
    const event = JSON.stringify(feedback()).replace('"sentiment"', `"nested":${nested},"sentiment"`)
    const { status, body } = await send(event)
    expect([status, body.code, body.errors]).toEqual([
      400,
      'validation_failed',
      [expect.objectContaining({ path: '/properties', code })],
    ])
    expect(await countAll()).toBe(before)
  })
})

const countEvents = async () => (await service.query('select count(*)::int from deliveries'))[0].count
