import { describe, expect, test } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { passTime } from '../../support/database-clock.ts'
import { sendingApp } from '../../support/sending-app.ts'
import { deliverDue, deliveriesOf, type Receiver, webhookTo } from '../../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
const { createTask } = sendingApp(
  (sending) => {
    ;({ app, receiver } = sending)
  },
  { hasDatabaseClock: true },
)

describe('a retry', () => {
  test('sends a delivery again, also one that was delivered, with the same id', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Again')
    await deliverDue(app)
    const [delivered] = await deliveriesOf(app, webhook)
    const path = `/api/webhooks/${webhook.id}/deliveries/${delivered?.id}/retry`
    expect(await app.post(path)).toMatchObject({
      status: 200,
      body: { outcome: 'pending', finishedAt: null },
    })
    await deliverDue(app)
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
      delivered?.id,
      delivered?.id,
    ])
    expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'delivered', attempts: 2 }])
  })

  test('ends the wait after a failure', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Waits')
    receiver.respondWith(500)
    await deliverDue(app)
    receiver.respondWith(200)
    const [failed] = await deliveriesOf(app, webhook)
    await app.post(`/api/webhooks/${webhook.id}/deliveries/${failed?.id}/retry`)
    await deliverDue(app)
    expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'delivered', error: null }])
  })

  test('that fails does not count: pressed again and again, it does not switch the webhook off', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('During an outage')
    receiver.respondWith(500)
    await deliverDue(app)
    await passTime(app, 5_000)
    await deliverDue(app)
    const [failed] = await deliveriesOf(app, webhook)
    const scheduled = (await app.get(`/api/webhooks/${webhook.id}`)).body.nextAttemptAt

    for (let pressed = 0; pressed < 12; pressed++) {
      await app.post(`/api/webhooks/${webhook.id}/deliveries/${failed?.id}/retry`)
      await deliverDue(app)
    }

    expect((await app.get(`/api/webhooks/${webhook.id}`)).body).toMatchObject({
      isActive: true,
      nextAttemptAt: scheduled,
    })
    expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'failed', attempts: 14 }])
  })

  test('is refused while the webhook is off, for a test, and for what is not there', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const path = `/api/webhooks/${webhook.id}`
    await createTask('Delivered')
    await deliverDue(app)
    const [delivered] = await deliveriesOf(app, webhook)
    const { body: tested } = await app.post(`${path}/test`)
    const retry = async (id: string | undefined) =>
      (await app.post(`${path}/deliveries/${id}/retry`)).body.code
    expect(await retry(tested.id)).toBe('delivery_not_replayable')
    expect(await retry(webhook.id)).toBe('delivery_not_found')
    await app.patch(path, { isActive: false })
    expect(await retry(delivered?.id)).toBe('webhook_not_active')
  })
})

describe('a retry of all', () => {
  test('sends what waits after a failure, in its order, and tells the titles of the tasks', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const titles = ['First', 'Second', 'Third']
    for (const title of titles) await createTask(title)
    receiver.respondWith(500)
    await deliverDue(app)
    receiver.respondWith(200)
    receiver.received.length = 0

    const retried = await app.post(`/api/webhooks/${webhook.id}/retry`)
    expect(retried).toMatchObject({ status: 200, body: { id: webhook.id, nextAttemptAt: null } })
    await deliverDue(app)
    const sent = receiver.received.map(({ body }) => body.task.title)
    expect(sent.toSorted()).toEqual(titles)
    expect(sent[0]).toBe('First')
    const { body } = await app.get(`/api/webhooks/${webhook.id}/deliveries?outcome=delivered`)
    expect(body.data.map(({ taskTitle }: { taskTitle: string }) => taskTitle)).toEqual(titles.toReversed())
  })

  test('that fails counts as none, and without a failure nothing happens', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const path = `/api/webhooks/${webhook.id}`
    expect((await app.post(`${path}/retry`)).body).toMatchObject({ isActive: true, nextAttemptAt: null })
    await createTask('During an outage')
    receiver.respondWith(500)
    await deliverDue(app)
    await passTime(app, 5_000)
    await deliverDue(app)
    const scheduled = (await app.get(path)).body.nextAttemptAt
    for (let pressed = 0; pressed < 12; pressed++) {
      await app.post(`${path}/retry`)
      await deliverDue(app)
    }
    expect((await app.get(path)).body).toMatchObject({ isActive: true, nextAttemptAt: scheduled })
  })

  test('is refused while the webhook is off', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await app.patch(`/api/webhooks/${webhook.id}`, { isActive: false })
    expect(await app.post(`/api/webhooks/${webhook.id}/retry`)).toMatchObject({
      status: 409,
      body: { code: 'webhook_not_active' },
    })
  })
})

test('a delivery has no title of a task that is deleted, or that the caller cannot access', async () => {
  const project = await app.given.project()
  const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'], projectId: project.id })
  const made: { body: { id: string; version: number } }[] = []
  for (const title of ['Deleted', 'Moved', 'Stays'])
    made.push(await app.post('/api/tasks', { title, listId: project.inbox.id }))
  const [deleted, moved] = made.map(({ body }) => body.id)
  await deliverDue(app)
  await app.delete(`/api/tasks/${deleted}`)
  const elsewhere = await app.given.project()
  await app.patch(`/api/tasks/${moved}`, { listId: elsewhere.inbox.id })

  const key = await app.given.key({ scopes: ['admin'], projectId: project.id })
  const path = `/api/webhooks/${webhook.id}/deliveries`
  const titlesFor = async (by?: string) =>
    (await app.get(path, by ? { key: by } : {})).body.data.map(
      ({ taskTitle }: { taskTitle: string | null }) => taskTitle,
    )
  expect(await titlesFor()).toEqual(['Stays', 'Moved', null])
  expect(await titlesFor(key)).toEqual(['Stays', null, null])
})
