import { describe, expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { sendingApp } from '../../support/sending-app.ts'
import { deliverDue, type Receiver, webhookTo } from '../../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
const { createTask } = sendingApp((sending) => {
  ;({ app, receiver } = sending)
})

describe('what changed before a webhook was switched off', () => {
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

  test('is queued also when it is more than one page', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const { body: first } = await app.post('/api/tasks', { title: 'First' })
    const tasks = Array.from({ length: 100 }, () => ({ title: 'Before' }))
    for (let n = 0; n < 6; n++) {
      const { status } = await app.post('/api/tasks/bulk', { listId: first.listId, tasks })
      expect(status).toBe(201)
    }
    await app.patch(`/api/webhooks/${webhook.id}`, { isActive: false })
    const rows = await app.query(
      'select count(*)::integer, count(distinct activity_id)::integer as activities from webhook_deliveries where webhook_id = $1',
      [webhook.id],
    )
    expect(rows).toEqual([{ count: 601, activities: 601 }])
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
