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
    expect(text).toMatch(/"__proto__": ?\{"polluted": ?1\}/)
  })

  test('is accepted and truncated with five thousand properties, of which the inbox keeps more', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`property_${n}`, n]))
    const response = await send(
      feedback({ ...many, user_email: 'jane@example.org', note: 'For Jane@example.org' }),
    )
    expect(response.status).toBe(201)
    const { metadata, title, description } = await service.task(response.body.taskId)
    expect(Object.keys(metadata.properties)).toHaveLength(1_000)
    expect(metadata.properties.user_email).toBe('jane@example.org')
    expect(title).toBe('For [user_email]')
    expect(description).toMatch(/4005 more properties are not shown/)
    const { payload, payloadCut } = await deliveryOf(service, response.body.deliveryId)
    expect([payloadCut, payload.properties.property_4999]).toEqual([false, 4_999])
  })

  test('keeps values nested as deeply as a body may have them', async () => {
    const deep = `${'{"a":'.repeat(998)}1${'}'.repeat(998)}`
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
    const { metadata } = await service.task(response.body.taskId)
    expect(metadata.occurredAt).toBe(new Date(timestamp).toISOString())
  })

  test('with another event name is ignored, listed without payload, and creates no task', async () => {
    const response = await send({ event: '$pageview', uuid: 'p1', properties: 'whatever' })
    expect([response.status, response.body]).toEqual([200, { accepted: false, reason: 'event_ignored' }])
    expect(await newestEvent(service, 'ignored')).toMatchObject({
      senderId: 'p1',
      payload: null,
      errors: null,
      tasks: [],
    })
  })
})
