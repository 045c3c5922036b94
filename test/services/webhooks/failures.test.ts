import { describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'
import { passTime } from '../../support/database-clock.ts'
import { sendingApp } from '../../support/sending-app.ts'
import {
  deliverDue,
  deliveriesOf,
  type Receiver,
  SENDING_ENV,
  verify,
  webhookTo,
} from '../../support/webhooks.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let app: TestApp
let receiver: Receiver
const { createTask } = sendingApp(
  (sending) => {
    ;({ app, receiver } = sending)
  },
  { hasDatabaseClock: true, webhookReceiver: { timeoutMs: 500 } },
)

test('a delivery whose result cannot be stored is sent again, with the same id', async () => {
  const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  await createTask('Twice')
  await app.query(`
    create function refuse_results() returns trigger language plpgsql as
      $$ begin raise exception using errcode = '53100', message = 'No space left on device'; end $$`)
  await app.query(
    'create trigger refuse_results before update on webhook_deliveries execute function refuse_results()',
  )
  await deliverDue(app)
  expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'pending', attempts: 0 }])
  await deliverDue(app)
  expect(receiver.received).toHaveLength(1)
  await app.query('drop function refuse_results cascade')
  await passTime(app, 30_000)
  await deliverDue(app)
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect([ids.length, new Set(ids).size]).toEqual([2, 1])
  expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'delivered', attempts: 1 }])
})

test('a delivery whose activity was removed ends as failed, and the others are sent', async () => {
  const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  await createTask('Removed')
  await createTask('Sent')
  await app.service.webhookQueue.writeDeliveries()
  const [removed] = await deliveriesOf(app, webhook)
  await app.query('delete from changes where activity_id = $1', [removed?.activityId])
  await app.query('delete from activity where id = $1', [removed?.activityId])

  await deliverDue(app)

  expect(await deliveriesOf(app, webhook)).toMatchObject([
    {
      outcome: 'failed',
      error: 'The activity log no longer has this change.',
      finishedAt: expect.any(String),
    },
    { outcome: 'delivered' },
  ])
  const leases = () => app.query('select lease from webhooks where id = $1', [webhook.id])
  const before = await leases()
  await deliverDue(app)
  expect(await leases()).toEqual(before)
})

describe('after a failure', () => {
  test('only the oldest delivery is sent, later each time, and everything after a success', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    const ids = [await createTask('First'), await createTask('Second'), await createTask('Third')]
    const taskIds = () => receiver.received.splice(0).map(({ body }) => body.data.taskId)
    const state = async () => (await app.get(`/api/webhooks/${webhook.id}`)).body
    receiver.respondWith(500)
    await deliverDue(app)
    expect(taskIds().length).toBeGreaterThan(0)
    expect((await state()).nextAttemptAt).not.toBeNull()
    await deliverDue(app)
    expect(taskIds()).toEqual([])
    await passTime(app, 5_000)
    await deliverDue(app)
    expect(taskIds()).toEqual([ids[0]])
    await passTime(app, 4 * MINUTE)
    await deliverDue(app)
    expect(taskIds()).toEqual([])
    await passTime(app, MINUTE)
    receiver.respondWith(200)
    await deliverDue(app)
    expect(taskIds().toSorted()).toEqual(ids)
    expect(await state()).toMatchObject({ nextAttemptAt: null, isActive: true })
    const deliveries = await deliveriesOf(app, webhook)
    expect(deliveries.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered', 'delivered'])
  })

  test('a delivery keeps its id, and has a new timestamp and signature', async () => {
    const { secret } = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Twice')
    receiver.respondWith(503)
    await deliverDue(app)
    await passTime(app, 5_000)
    receiver.respondWith(200)
    await deliverDue(app)
    const [first, second] = receiver.received
    if (!first || !second) throw new Error('It did not arrive twice.')
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
    for (const each of [first, second]) expect(() => verify(each, secret)).not.toThrow()
  })

  test.each<[string, (receiver: Receiver) => void, object]>([
    [
      'a status',
      (receiver) => receiver.respondWith(500),
      { responseStatus: 500, error: 'The receiver responded with 500.' },
    ],
    [
      'a redirect',
      (receiver) => receiver.respondWith(307, { location: 'http://169.254.169.254/' }),
      { responseStatus: 307, error: 'The receiver responded with 307. Redirects are not followed.' },
    ],
    [
      'a body with NUL',
      (receiver) => receiver.respond((response) => response.writeHead(400).end('bad\0 signature')),
      { responseStatus: 400, responseBody: 'bad signature' },
    ],
    [
      'no response',
      (receiver) => receiver.respond(() => {}),
      { responseStatus: null, error: 'No response within 0.5 s.' },
    ],
    [
      'a connection that is cut',
      (receiver) => receiver.respond((response) => response.destroy()),
      { responseStatus: null, error: 'The connection was closed.' },
    ],
  ])('the list says why: %s', async (_, respond, expected) => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Fails')
    respond(receiver)
    await deliverDue(app)
    const [failed] = await deliveriesOf(app, webhook, '&outcome=failed')
    expect(failed).toMatchObject({ outcome: 'failed', attempts: 1, finishedAt: null, ...expected })
    expect(await deliveriesOf(app, webhook, '&outcome=delivered')).toEqual([])
  })

  test('the webhook is switched off with the last attempt, says why, and keeps its deliveries', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Never arrives')
    await createTask('Waits')
    receiver.respondWith(500)
    const waits = [0, 5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR]
    for (const ms of waits) {
      await passTime(app, ms)
      await deliverDue(app)
      expect((await app.get(`/api/webhooks/${webhook.id}`)).body.isActive).toBe(true)
    }
    await passTime(app, 24 * HOUR)
    await deliverDue(app)
    expect((await app.get(`/api/webhooks/${webhook.id}`)).body).toMatchObject({
      isActive: false,
      disabledReason: 'failed',
      nextAttemptAt: null,
    })
    const { body: log } = await app.get('/api/activity?type=webhook.disabled')
    expect(log.data[0]).toMatchObject({
      actor: { type: 'system', name: 'Inlet' },
      metadata: { webhookId: webhook.id, reason: 'failed' },
    })
    const [oldest] = await deliveriesOf(app, webhook)
    expect(oldest).toMatchObject({ outcome: 'failed', attempts: 10 })
    await createTask('While it is off')
    receiver.received.length = 0
    receiver.respondWith(200)
    await deliverDue(app)
    expect(receiver.received).toEqual([])

    await app.patch(`/api/webhooks/${webhook.id}`, { isActive: true })
    const last = await createTask('After it was switched on')
    await deliverDue(app)
    const titles = receiver.received.map(({ body }) => body.task.title)
    expect(titles.toSorted()).toEqual(['After it was switched on', 'Never arrives', 'Waits'])
    expect(receiver.received.at(-1)?.body.data.taskId).toBe(last)
  })

  test('with 410, the webhook is switched off at once', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Gone')
    receiver.respondWith(410)
    await deliverDue(app)
    expect((await app.get(`/api/webhooks/${webhook.id}`)).body).toMatchObject({
      isActive: false,
      disabledReason: 'gone',
    })
    expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'failed', responseStatus: 410 }])
  })

  test('a new URL is tried at once', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Moved')
    receiver.respondWith(500)
    await deliverDue(app)
    receiver.respondWith(200)
    await app.patch(`/api/webhooks/${webhook.id}`, { url: `${receiver.url}/new` })
    await deliverDue(app)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook/new'])
  })

  test('another encryption key sends nothing, and says so', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    await createTask('Unreadable secret')
    const other = await startApp({
      env: { ...SENDING_ENV, ENCRYPTION_KEY: 'cd'.repeat(32) },
      connectionString: app.connectionString,
    })
    await deliverDue(other)
    await other.close()
    expect(receiver.received).toEqual([])
    const [failed] = await deliveriesOf(app, webhook)
    expect(failed?.error).toContain('ENCRYPTION_KEY')
    await passTime(app, 5_000)
    await deliverDue(app)
    expect(receiver.received).toHaveLength(1)
  })
})

describe('a test', () => {
  test('is sent at once, signed like a delivery, also while the webhook is off or waits', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'], isActive: false })
    const { status, body } = await app.post(`/api/webhooks/${webhook.id}/test`)
    expect([status, body]).toMatchObject([
      200,
      { type: 'webhook.test', outcome: 'delivered', responseStatus: 204, attempts: 1, activityId: null },
    ])
    const [received] = receiver.received
    if (!received) throw new Error('The test did not arrive.')
    expect(verify(received, webhook.secret)).toMatchObject({
      type: 'webhook.test',
      data: { id: body.id, type: 'webhook.test', taskId: null, actor: { type: 'key' } },
      task: null,
    })
    expect(await deliveriesOf(app, webhook)).toEqual([body])
  })

  test('that fails has no effect on deliveries', async () => {
    const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
    receiver.respondWith(500)
    const { body } = await app.post(`/api/webhooks/${webhook.id}/test`)
    expect(body).toMatchObject({ outcome: 'failed', responseStatus: 500 })
    receiver.respondWith(410)
    await app.post(`/api/webhooks/${webhook.id}/test`)
    const state = await app.get(`/api/webhooks/${webhook.id}`)
    expect(state.body).toMatchObject({ isActive: true, nextAttemptAt: null })
    receiver.received.length = 0
    receiver.respondWith(200)
    await createTask('Delivered')
    await deliverDue(app)
    expect(receiver.received).toHaveLength(1)
  })
})

test('deliveries that are finished are kept for 7 days', async () => {
  const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  await createTask('Old')
  await createTask('New')
  await deliverDue(app)
  receiver.respondWith(410)
  await createTask('Kept')
  await deliverDue(app)
  const [old, fresh, kept] = await deliveriesOf(app, webhook)
  const age = (id: string | undefined, days: number) =>
    app.query(
      `update webhook_deliveries set created_at = now() - $2 * interval '1 day',
         finished_at = case when finished_at is not null then now() - $2 * interval '1 day' end where id = $1`,
      [id, days],
    )
  await age(old?.id, 7.1)
  await age(fresh?.id, 6.9)
  await age(kept?.id, 30)
  await app.service.cleanup.cleanUp()
  expect((await deliveriesOf(app, webhook)).map(({ id }) => id)).toEqual([fresh?.id, kept?.id])
})
