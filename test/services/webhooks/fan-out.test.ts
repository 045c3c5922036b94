import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'
import { SENDING_ENV, webhookTo } from '../../support/webhooks.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp({ env: SENDING_ENV })
})
afterAll(() => app.close())

test('a receiver that is behind, or fails, gets its deliveries later than others, also while these always have some', async () => {
  const [responding, behind, failing] = await Promise.all(
    ['responding', 'behind', 'failing'].map((path) =>
      webhookTo(app, { url: `http://127.0.0.1:9/${path}`, types: ['task.created'] }),
    ),
  )
  await app.query(
    `insert into webhook_deliveries (webhook_id, id, position, type, activity_id, outcome, attempts, created_at)
     select $1, gen_random_uuid(), 0, 'task.created', gen_random_uuid(), 'pending', 0, now()
     from generate_series(1, 2001)`,
    [behind?.id],
  )
  await app.query('update webhooks set failures = 3 where id = $1', [failing?.id])
  const { webhookQueue } = app.service
  webhookQueue.wake()
  const written = async () => {
    await app.post('/api/tasks', { title: 'For all' })
    await webhookQueue.writeDeliveries()
    const rows = await app.query(
      `select webhook_id, count(*)::integer from webhook_deliveries where position > 0 group by 1`,
    )
    const counts = new Map(rows.map(({ webhook_id, count }) => [webhook_id, count]))
    return [responding, behind, failing].map((webhook) => counts.get(webhook?.id) ?? 0)
  }
  await vi.waitFor(async () => {
    const [first = 0, second = 0, third = 0] = await written()
    expect(Math.max(second, third)).toBeLessThan(first)
  })
  await vi.waitFor(
    async () => {
      const [first, ...others] = await written()
      expect(others).toEqual([first, first])
    },
    { timeout: 10_000, interval: 20 },
  )
})

test('instances that write deliveries at the same time write each once', async () => {
  const other = await startApp({ env: SENDING_ENV, connectionString: app.connectionString })
  const webhook = await webhookTo(app, { url: 'http://127.0.0.1:9/', types: ['task.created'] })
  for (let n = 0; n < 20; n++) {
    await Promise.all([
      app.post('/api/tasks', { title: `Task ${n}` }),
      app.service.webhookQueue.writeDeliveries(),
      other.service.webhookQueue.writeDeliveries(),
    ])
  }
  for (const { service } of [app, other]) {
    service.webhookQueue.wake()
    await service.webhookQueue.writeDeliveries()
  }
  await other.close()
  const rows = await app.query(
    'select count(*)::int, count(distinct activity_id)::int as activities from webhook_deliveries where webhook_id = $1',
    [webhook.id],
  )
  expect(rows).toEqual([{ count: 20, activities: 20 }])
})
