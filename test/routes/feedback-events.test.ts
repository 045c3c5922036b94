import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { TestApp } from '../support/app.ts'
import { deliveriesOf, deliveryOf } from '../support/deliveries.ts'
import { feedback, type sender, startReceiver } from '../support/feedback.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'

const DAY_MS = 86_400_000

let service: TestApp
let send: ReturnType<typeof sender>
let ageMs = 0
beforeAll(async () => {
  const clock = { ...systemClock(), now: () => new Date(Date.now() - ageMs) }
  ;({ service, send } = await startReceiver({ clock }))
})
afterAll(() => service.close())

const deliveries = (query = '') => deliveriesOf(service, `receiver=feedback${query}`)
const replay = (id: string) => service.post(`/api/deliveries/${id}/replay`)

async function project(name = `Project ${randomUUID()}`) {
  return (await service.post('/api/projects', { name })).body
}

describe('deliveries of feedback', () => {
  test('lists newest first, page by page, by outcome', async () => {
    const uuids = Array.from({ length: 5 }, () => randomUUID())
    for (const uuid of uuids) await send(feedback({}, { uuid, event: 'other' }))
    await send(feedback())
    await sleep(5)

    const first = (await service.get('/api/deliveries?receiver=feedback&outcome=ignored&limit=3')).body
    const second = (
      await service.get(
        `/api/deliveries?receiver=feedback&outcome=ignored&limit=3&cursor=${first.nextCursor}`,
      )
    ).body

    expect([...first.data, ...second.data].map(({ senderId }) => senderId)).toEqual(uuids.toReversed())
    expect(second.nextCursor).toBeNull()
    expect((await deliveries('&limit=1'))[0].outcome).toBe('accepted')
  })

  test.each([
    ['&outcome=lost', 'query.outcome'],
    ['&limit=201', 'query.limit'],
    ['&nope=1', 'query.nope'],
    ['&cursor=abc', 'query.cursor'],
  ])('rejects %s by name', async (query, path) => {
    const response = await service.get(`/api/deliveries?receiver=feedback${query}`)
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('requires an admin key for all projects', async () => {
    const { id } = await project()
    const bound = await service.given.key({ projectId: id })
    const weak = await service.given.key({ scopes: ['tasks:read', 'tasks:write'] })
    for (const key of [bound, weak]) {
      for (const [method, path] of [
        ['GET', '/api/webhook-routing'],
        ['POST', '/api/webhook-routing/test'],
      ] as const) {
        const response = await service.call(method, path, { key })
        expect([path, response.status, response.body.code]).toEqual([path, 403, 'insufficient_scope'])
      }
    }
  })

  test('are not found by unknown ids', async () => {
    for (const response of [await service.get(`/api/deliveries/${UNKNOWN_ID}`), await replay(UNKNOWN_ID)]) {
      expect([response.status, response.body.code]).toEqual([404, 'delivery_not_found'])
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
      return body.deliveryId
    }
    const [older, old, young] = [await days(31), await days(29), await days(6)]

    await service.service.cleanup.cleanUp()

    expect(await deliveryOf(service, older)).toMatchObject({ outcome: 'accepted', payload: null })
    expect((await deliveryOf(service, old)).payload).not.toBeNull()
    expect((await deliveryOf(service, young)).payload).not.toBeNull()
    const left = async (outcome: string) =>
      (await deliveries(`&limit=200&outcome=${outcome}`))
        .filter(({ senderId }) => senderId?.endsWith('days'))
        .map(({ senderId, payload }) => [senderId, payload !== null])
    expect(await left('ignored')).toEqual([['6 days', false]])
    expect(await left('rejected')).toEqual([
      ['6 days', true],
      ['29 days', true],
      ['31 days', false],
    ])
  })
})
