import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startWebhookWorker } from '../../src/jobs/webhooks.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { deliveriesOf, type Receiver, SENDING_ENV, startReceiver, webhookTo } from '../support/webhooks.ts'

let app: TestApp
let receiver: Receiver
let worker: ReturnType<typeof startWebhookWorker> | undefined
beforeEach(async () => {
  app = await startApp({ env: SENDING_ENV })
  receiver = await startReceiver()
})
afterEach(async () => {
  await worker?.stop()
  worker = undefined
  await app.close()
  await receiver.close()
})

function start(): void {
  const { webhookQueue } = app.service
  worker = startWebhookWorker({ webhookQueue, logger: pino({ level: 'silent' }), writeMs: 20, sendMs: 50 })
}

test('a change is sent without being asked for, also with a webhook that was created after the start', async () => {
  start()
  await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  const { body: task } = await app.post('/api/tasks', { title: 'Sent by itself' })
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 })
  expect(receiver.received[0]?.body.data.taskId).toBe(task.id)
})

test('a request that is open when the worker stops is cut, and sent again after the start', async () => {
  start()
  const webhook = await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  receiver.respond(() => {})
  await app.post('/api/tasks', { title: 'Twice' })
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 })
  const since = performance.now()
  await worker?.stop()
  expect(performance.now() - since).toBeLessThan(5_000)
  expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'pending', attempts: 0 }])

  receiver.respondWith(200)
  start()
  await vi.waitFor(
    async () => expect(await deliveriesOf(app, webhook)).toMatchObject([{ outcome: 'delivered' }]),
    { timeout: 10_000 },
  )
  const [first, second] = receiver.received
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
})

test('the log says that a webhook was switched off, without its URL', async () => {
  const lines: string[] = []
  const logger = pino({}, { write: (line: string) => lines.push(line) })
  const { webhookQueue } = app.service
  worker = startWebhookWorker({ webhookQueue, logger, writeMs: 20, sendMs: 50 })
  const { id } = await webhookTo(app, { url: `${receiver.url}?token=secret` })
  receiver.respondWith(410)
  await vi.waitFor(
    () =>
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { msg: 'webhook switched off', webhookId: id, reason: 'gone' },
      ]),
    { timeout: 10_000 },
  )
  expect(lines.join()).not.toContain('token')
})

test('metrics count attempts, webhooks by state, and how long the oldest delivery waits', async () => {
  start()
  const off = await webhookTo(app, { url: `${receiver.url}/off`, isActive: false })
  await webhookTo(app, { url: receiver.url, types: ['task.created'] })
  await app.post('/api/tasks', { title: 'Delivered' })
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 10_000 })
  receiver.respondWith(500)
  await app.post('/api/tasks', { title: 'Failed' })
  await vi.waitFor(
    async () => {
      const { body } = await app.get('/metrics')
      expect(body).toContain('inlet_webhook_attempts_total{outcome="delivered"} 1')
      expect(body).toMatch(/inlet_webhook_attempts_total\{outcome="failed"\} [1-9]/)
      expect(body).toContain('inlet_webhooks{state="failing"} 1')
      expect(body).toContain('inlet_webhooks{state="off"} 1')
      expect(body).toMatch(/inlet_webhook_oldest_delivery_seconds (0\.\d|[1-9])/)
    },
    { timeout: 10_000 },
  )
  expect(off.isActive).toBe(false)
})
