import { describe, expect, test, vi } from 'vitest'
import type { TestApp } from '../../support/app.ts'
import { sendingApp } from '../../support/sending-app.ts'
import { deliverDue, deliveriesOf, type Receiver, webhookTo } from '../../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
const { createTask } = sendingApp((sending) => {
  ;({ app, receiver } = sending)
})

describe('results that are not stored yet', () => {
  test('do not delay the next deliveries, also of the same task, until there are 100', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created', 'task.updated'] })
    const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => createTask(`Task ${n}`)))
    await Promise.all(ids.map((id) => app.patch(`/api/tasks/${id}`, { title: 'Changed' })))
    app.service.webhookQueue.wake()
    await app.service.webhookQueue.writeDeliveries()
    const locking = await app.connect()
    await locking.query('begin; lock table webhook_deliveries in share mode')
    const sent = deliverDue(app)
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(100), { timeout: 10_000 })
    expect(await deliveriesOf(app, webhook, '&outcome=delivered')).toEqual([])
    expect(receiver.received).toHaveLength(100)
    await locking.query('commit')
    locking.release()
    await sent
    const typesOf = (id: string) =>
      receiver.received.filter(({ body }) => body.data.taskId === id).map(({ body }) => body.type)
    for (const id of ids) expect(typesOf(id)).toEqual(['task.created', 'task.updated'])
    expect(await deliveriesOf(app, webhook, '&outcome=delivered')).toHaveLength(120)
  })

  test('are not stored after an earlier one could not be, so that the order is kept when they are sent again', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created', 'task.updated'] })
    await app.patch(`/api/tasks/${await createTask('Task')}`, { title: 'Changed' })
    const storing = Promise.withResolvers<void>()
    const record = vi.spyOn(app.repos.webhookQueue, 'record')
    record.mockImplementationOnce(async () => {
      await storing.promise
      throw new Error('The database is unavailable.')
    })
    const sent = deliverDue(app)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 10_000 })
    storing.resolve()
    await sent
    record.mockRestore()
    expect(await deliveriesOf(app, webhook, '&outcome=delivered')).toEqual([])
    await app.query('update webhooks set lease_until = null')
    await deliverDue(app)
    const types = receiver.received.map(({ body }) => body.type)
    expect(types).toEqual(['task.created', 'task.updated', 'task.created', 'task.updated'])
  })

  test('are not sent again while the webhook is being deleted', async () => {
    const { id } = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await Promise.all(Array.from({ length: 3 }, (_, n) => createTask(`Task ${n}`)))
    const isDeleting = Promise.withResolvers<void>()
    receiver.respond(async (response) => {
      await isDeleting.promise
      response.writeHead(204).end()
    })
    const release = vi.spyOn(app.repos.webhookQueue, 'release')
    const sent = deliverDue(app)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(3), { timeout: 10_000 })
    const deleting = await app.connect()
    await deleting.query('begin')
    await deleting.query('delete from webhooks where id = $1', [id])
    isDeleting.resolve()
    await vi.waitFor(() => expect(release).toHaveBeenCalled(), { timeout: 5_000 })
    await deleting.query('commit')
    deleting.release()
    await sent
    release.mockRestore()
    expect(receiver.received).toHaveLength(3)
  })

  test('are waited for, also if nothing more can be read', async () => {
    await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('First')
    await createTask('Second')
    const events: string[] = []
    const { webhookQueue } = app.service
    webhookQueue.listen({ onError: () => events.push('interrupted'), onSwitchedOff() {} })
    const storing = Promise.withResolvers<void>()
    const { record } = app.repos.webhookQueue
    const recording = vi.spyOn(app.repos.webhookQueue, 'record').mockImplementation(async (attempts) => {
      await storing.promise
      events.push('stored')
      return record(attempts)
    })
    const isUnreadable = Promise.withResolvers<void>()
    receiver.respond(async (response) => {
      if (receiver.received.length === 2) await isUnreadable.promise
      response.writeHead(204).end()
    })
    const sent = deliverDue(app)
    await vi.waitFor(() => expect(recording).toHaveBeenCalled(), { timeout: 10_000 })
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 10_000 })
    const reading = vi.spyOn(app.repos.webhookQueue, 'listWaiting').mockRejectedValueOnce(new Error('Lost.'))
    await webhookQueue.startSending(new AbortController().signal)
    isUnreadable.resolve()
    await app.get('/api/webhooks')
    storing.resolve()
    await sent
    for (const spy of [recording, reading]) spy.mockRestore()
    expect(events).toEqual(['stored', 'stored', 'interrupted'])
  })
})

test('a failure that an instance stores after it has lost its lease does not repeat what another has delivered', async () => {
  const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  await createTask('Task')
  await deliverDue(app)
  const [delivery] = await deliveriesOf(app, webhook)
  if (!delivery) throw new Error('Nothing was delivered.')
  const late = { webhookId: webhook.id, id: delivery.id, outcome: 'failed', error: 'No response.' } as const
  await app.repos.webhookQueue.record([
    { ...late, durationMs: null, responseStatus: null, responseBody: null },
  ])
  await deliverDue(app)
  expect(receiver.received).toHaveLength(1)
  expect(await deliveriesOf(app, webhook)).toEqual([delivery])
})
