import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { tally, times } from '../support/concurrent.ts'
import { deliveryOf } from '../support/deliveries.ts'
import { feedback, sender, untilAvailable, WEBHOOK_SECRET } from '../support/feedback.ts'
import { startTwoInstances, type TwoInstances } from '../support/two-instances.ts'

let service: TestApp
let instances: TwoInstances
let send: ReturnType<typeof sender>
let sendToSecond: ReturnType<typeof sender>
beforeAll(async () => {
  instances = await startTwoInstances({ env: { WEBHOOK_SECRET } })
  service = instances.service
  send = sender(service.url, WEBHOOK_SECRET)
  sendToSecond = sender(instances.second.url, WEBHOOK_SECRET)
})
afterAll(() => instances.close())

/** Sends to one instance and the other in turn, and retries after a 503, as a sender does. */
const sendToEither = (n: number, event: object) => untilAvailable(() => (n % 2 ? sendToSecond : send)(event))

describe('feedback', () => {
  test('that is repeated gets the same ids, and is counted', async () => {
    const event = feedback()
    const first = await send(event)

    const repeats = [await send(event), await send({ event }), await sendToSecond(event)]

    for (const { status, body } of repeats) {
      expect([status, body]).toEqual([200, { ...first.body, duplicate: true }])
    }
    expect((await deliveryOf(service, first.body.deliveryId)).duplicates).toBe(3)
  })
})

describe('concurrent deliveries', () => {
  test('of 20 copies of one event create one task, on two instances', async () => {
    const event = feedback()
    const responses = await times(20, (n) => sendToEither(n, event))

    expect(tally(responses)).toEqual({ 201: 1, 200: 19 })
    expect(new Set(responses.map(({ body }) => body.taskId)).size).toBe(1)
    expect((await deliveryOf(service, responses[0]?.body.deliveryId)).duplicates).toBe(19)
    expect(
      await service.query(
        `select count(*)::int from activity where type = 'feedback.received' and task_id = $1`,
        [responses[0]?.body.taskId],
      ),
    ).toEqual([{ count: 1 }])
  })

  test('of 20 events for a project without the list create one list, on two instances', async () => {
    const { id, name } = await service.given.project({ name: `Racing ${randomUUID()}` })
    const responses = await times(20, (n) => sendToEither(n, feedback({ project_name: name })))

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
    const responses = await times(20, async (n) => {
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
