import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Delivery } from '../../src/schemas/delivery.ts'
import type { TestApp } from '../support/app.ts'
import { feedback, type sender, startReceiver } from '../support/feedback.ts'
import { sourceOf } from '../support/sources.ts'

let service: TestApp
let send: ReturnType<typeof sender>
beforeAll(async () => {
  ;({ service, send } = await startReceiver({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) } }))
})
afterAll(() => service.close())

/** The receivers and outcomes of what a query finds. */
async function found(query: string, options: { key?: string } = {}) {
  const { body } = await service.get(`/api/deliveries?${query}`, options)
  return body.data.map(({ receiver, outcome }: Delivery) => `${receiver} ${outcome}`)
}

describe('the ID that the sender gave', () => {
  test('finds deliveries at every door, newest first, if it is the same', async () => {
    const id = `msg_${randomUUID()}`
    const source = await sourceOf(service)
    await send(feedback({}, { uuid: id }))
    await source.send({ title: 'The same' }, { id })
    await source.send({ title: 'Another' }, { id: `${id}1` })
    await send(feedback({ sentiment: 'none' }, { uuid: id }))

    expect(await found(`senderId=${id}`)).toEqual([
      'feedback rejected',
      'source accepted',
      'feedback accepted',
    ])
    expect(await found(`senderId=${id}&outcome=rejected`)).toEqual(['feedback rejected'])
    expect(await found(`senderId=${id}&sourceId=${source.source.id}`)).toEqual(['source accepted'])
    expect(await found(`senderId=${id.slice(0, -1)}`)).toEqual([])
    const { data, nextCursor } = (await service.get(`/api/deliveries?senderId=${id}&limit=2`)).body
    const rest = (await service.get(`/api/deliveries?senderId=${id}&cursor=${nextCursor}`)).body
    expect([data.length, rest.data.length, rest.nextCursor]).toEqual([2, 1, null])
  })

  test('finds nothing of other projects', async () => {
    const id = `msg_${randomUUID()}`
    const mine = await sourceOf(service)
    const others = await sourceOf(service)
    for (const { send } of [mine, others]) await send({ title: 'The same' }, { id })
    const key = await service.given.key({ scopes: ['tasks:read'], projectId: mine.source.projectId })

    expect(await found(`senderId=${id}`)).toHaveLength(2)
    expect(await found(`senderId=${id}`, { key })).toHaveLength(1)
  })

  test.each(['', 'x'.repeat(256)])('is rejected by name if it has %j', async (id) => {
    const response = await service.get(`/api/deliveries?senderId=${id}`)
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: 'query.senderId' }] } })
  })
})
