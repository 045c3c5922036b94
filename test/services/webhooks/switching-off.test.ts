import { describe, expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { locksOf } from '../../support/locks.ts'
import { sendingApp } from '../../support/sending-app.ts'
import { deliverDue, type Receiver, webhookTo } from '../../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
const { createTask } = sendingApp((sending) => {
  ;({ app, receiver } = sending)
})

describe('what changed before a webhook was switched off', () => {
  const queued = async ({ id }: { id: string }) => {
    const [row] = await app.query(
      'select count(*)::integer, count(distinct activity_id)::integer as activities from webhook_deliveries where webhook_id = $1',
      [id],
    )
    return row
  }

  const titlesAfterwards = async ({ id }: { id: string }) => {
    await createTask('While it is off')
    receiver.respondWith(200)
    receiver.received.length = 0
    const { status } = await app.patch(`/api/webhooks/${id}`, { isActive: true })
    expect(status).toBe(200)
    await createTask('After')
    await deliverDue(app)
    return receiver.received.map(({ body }) => body.task.title).toSorted()
  }

  test('is sent after it is switched on, and not what changed while it was off', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Before')
    await app.patch(`/api/webhooks/${webhook.id}`, { isActive: false })
    expect(await titlesAfterwards(webhook)).toEqual(['After', 'Before'])
  })

  test('is queued page by page afterwards, however much it is', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const { body: first } = await app.post('/api/tasks', { title: 'First' })
    const tasks = Array.from({ length: 100 }, () => ({ title: 'Before' }))
    for (let n = 0; n < 6; n++) {
      const { status } = await app.post('/api/tasks/bulk', { listId: first.listId, tasks })
      expect(status).toBe(201)
    }
    await app.patch(`/api/webhooks/${webhook.id}`, { isActive: false })
    expect(await queued(webhook)).toEqual({ count: 0, activities: 0 })
    await createTask('While it is off')
    await app.service.webhookQueue.writeDeliveries()
    expect((await queued(webhook)).count).toBeLessThan(300)
    await app.patch(`/api/webhooks/${webhook.id}`, { isActive: true })
    await createTask('Between')
    await app.patch(`/api/webhooks/${webhook.id}`, { isActive: false })
    await createTask('While it is off again')
    await deliverDue(app)
    expect(await queued(webhook)).toEqual({ count: 602, activities: 602 })
  })

  test.each([false, true])(
    'delays no delivery of another one, nor while it catches up: active %s',
    async (isActive) => {
      const webhook = await webhookTo(app, { url: receiver.url, types: ['rule.created'] })
      const { body: first } = await app.post('/api/tasks', { title: 'First' })
      const tasks = Array.from({ length: 100 }, () => ({ title: 'Before' }))
      for (let n = 0; n < 6; n++) await app.post('/api/tasks/bulk', { listId: first.listId, tasks })
      const other = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
      await app.patch(`/api/webhooks/${webhook.id}`, { isActive })

      await createTask('Now')
      await app.service.webhookQueue.writeDeliveries()

      expect(await queued(other)).toEqual({ count: 1, activities: 1 })
      await app.post('/api/rules', { content: 'Be brief.' })
      await deliverDue(app)
      expect(await queued(webhook)).toEqual({ count: isActive ? 1 : 0, activities: isActive ? 1 : 0 })
    },
  )

  test('delays nobody else who creates or changes webhooks', async () => {
    const webhook = await webhookTo(app, { url: receiver.url })
    const locks = locksOf(app)
    const release = await locks.acquire(`update webhooks set name = 'Changing' where id = '${webhook.id}'`)

    const other = await webhookTo(app, { url: receiver.url })
    expect((await app.patch(`/api/webhooks/${other.id}`, { name: 'Renamed' })).status).toBe(200)
    await release()
  })

  test('is sent also when the service has switched it off', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('First')
    receiver.respond(async (response) => {
      await createTask('Not written yet')
      response.writeHead(410).end()
    })
    await deliverDue(app)
    expect((await app.get(`/api/webhooks/${webhook.id}`)).body.disabledReason).toBe('gone')
    expect(await titlesAfterwards(webhook)).toEqual(['After', 'First', 'Not written yet'])
  })
})
