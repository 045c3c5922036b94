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

describe('what a delivery says', () => {
  const titles = async (query: string, options: { key?: string } = {}) => {
    const { body } = await service.get(`/api/deliveries?${query}`, options)
    return body.data.map(({ title }: Delivery) => title)
  }
  const id = () => `said_${randomUUID()}`

  test('is in the list without its payload, flat or nested, valid or not', async () => {
    const [flat, nested, invalid, other] = [id(), id(), id(), id()]
    await send(feedback({ note: 'Export\nfails' }, { uuid: flat }))
    await send({ event: feedback({ note: 'In the event' }, { uuid: nested }), person: {} })
    await send(feedback({ sentiment: 'furious', note: 'Not valid' }, { uuid: invalid }))
    await send(feedback({ note: 'Elsewhere' }, { uuid: other, event: 'another' }))
    expect(await titles(`senderId=${flat}`)).toEqual(['Frustrated: Export fails'])
    expect(await titles(`senderId=${nested}`)).toEqual(['Frustrated: In the event'])
    expect(await titles(`senderId=${invalid}`)).toEqual(['Furious: Not valid'])
    expect((await service.get(`/api/deliveries?senderId=${flat}`)).body.data[0]).toMatchObject({
      hasPayload: true,
      number: null,
    })
  })

  test('is only for administrators, as the payload is; others see the task', async () => {
    const senderId = id()
    await send(feedback({ note: 'Secret' }, { uuid: senderId }))
    const key = await service.given.key({ scopes: ['tasks:read'] })
    expect(await titles(`senderId=${senderId}`, { key })).toEqual(['Secret'])
    const [{ id: deliveryId }] = (await service.get(`/api/deliveries?senderId=${senderId}`)).body.data
    const { body } = await service.get(`/api/deliveries/${deliveryId}`, { key })
    expect([body.title, body.payload]).toEqual(['Secret', undefined])
    expect((await service.get(`/api/deliveries/${deliveryId}`)).body.title).toBe('Frustrated: Secret')
  })

  test('is not read from long payloads, nor from those that are not stored, or not JSON', async () => {
    const [long, dropped, odd, cut] = [id(), id(), id(), id()]
    for (const uuid of [long, dropped, odd, cut]) {
      const extra = uuid === long ? { extra: 'x'.repeat(40_000) } : {}
      await send(feedback({ note: 'Said', ...extra }, { uuid }))
    }
    const store = (senderId: string, values: string) =>
      service.query(`update deliveries set ${values} where sender_id = $1`, [senderId])
    await store(dropped, 'payload = null')
    await store(odd, `payload = '{"properties":{"note":"\\ud800 \\u0000"}}'`)
    await store(cut, `payload = '{"properties":{"no', payload_cut = true`)
    for (const senderId of [long, dropped, odd, cut]) {
      expect(await titles(`senderId=${senderId}`)).toEqual(['Said'])
    }
    const { body } = await service.get(`/api/deliveries?senderId=${dropped}`)
    expect(body.data[0].hasPayload).toBe(false)
  })

  test('is the title of its first task, as it is now, unless that is deleted or out of reach', async () => {
    const { source, send } = await sourceOf(service, { template: { title: '{{ item.title }}' } })
    const { taskId } = (await send({ title: 'Sent' })).body
    await send({})
    const query = `sourceId=${source.id}`
    expect(await titles(query)).toEqual([null, 'Sent'])
    await service.patch(`/api/tasks/${taskId}`, { title: 'Changed' })
    expect(await titles(query)).toEqual([null, 'Changed'])
    const key = await service.given.key({ projectId: source.projectId })
    expect(await titles(query, { key })).toEqual([null, 'Changed'])
    await service.patch(`/api/tasks/${taskId}`, { listId: (await service.given.project()).inbox.id })
    expect(await titles(query, { key })).toEqual([null, null])
    expect(await titles(query)).toEqual([null, 'Changed'])
    await service.delete(`/api/tasks/${taskId}`)
    expect(await titles(query)).toEqual([null, null])
  })
})
