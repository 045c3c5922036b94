import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../../support/app.ts'
import { SENDING_ENV, webhookTo } from '../../support/webhooks.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp({ env: SENDING_ENV })
})
afterAll(() => app.close())

test('a receiver that is behind, or fails, gets its next deliveries after the others', async () => {
  const [responding, behind, failing] = await Promise.all(
    ['responding', 'behind', 'failing'].map((path) =>
      webhookTo(app, { url: `http://127.0.0.1:9/${path}`, types: ['task.created'] }),
    ),
  )
  await app.query(
    `insert into webhook_deliveries (webhook_id, id, position, type, activity_id, outcome, attempts, created_at)
     select $1, gen_random_uuid(), 0, 'task.created', gen_random_uuid(), 'pending', 0, now()
     from generate_series(1, 1001)`,
    [behind?.id],
  )
  await app.query('update webhooks set failures = 3 where id = $1', [failing?.id])
  await app.post('/api/tasks', { title: 'For all' })
  const { webhookQueue } = app.service
  const waiting = async () => {
    const rows = await app.query('select webhook_id from webhook_deliveries where position > 0 order by id')
    return rows.map(({ webhook_id }) => webhook_id)
  }
  webhookQueue.wake()
  await webhookQueue.writeDeliveries()
  expect(await waiting()).toEqual([responding?.id])
  await webhookQueue.writeDeliveries()
  expect((await waiting()).slice(1).toSorted()).toEqual([behind?.id, failing?.id].toSorted())
  await webhookQueue.writeDeliveries()
  expect(await waiting()).toHaveLength(3)
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
