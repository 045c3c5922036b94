import { setTimeout as sleep } from 'node:timers/promises'
import { webhookReceiver } from '../../../src/clients/webhook-receiver.ts'
import { type Figure, inPairs } from '../support/figures.ts'
import { ADMIN_KEY, query, type Setup, whilePaused } from '../support/setup.ts'

const DELIVERIES = 10_000
const BATCH = 100
/** As to each webhook. */
const CONCURRENCY = 5
const POLL_MS = 50
/** About as large as a delivery. */
const BODY = JSON.stringify({ text: 'x'.repeat(1_100) })

/** Outgoing webhooks: deliveries that wait for a receiver which responds at once. */
export async function webhooks(setup: Setup): Promise<Figure[]> {
  const database = await setup.database('webhooks')
  const service = await setup.service({
    DATABASE_URL: database,
    ENCRYPTION_KEY: 'ab'.repeat(32),
    WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
  })
  const bare = await setup.bare({})
  const client = webhookReceiver({ allowHosts: ['127.0.0.1'] })
  const receiverUrl = `${bare.url}/`
  const call = async (method: string, path: string, body: object) => {
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' }
    const response = await fetch(service.url + path, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(await response.text())
    // biome-ignore lint/suspicious/noExplicitAny: whatever the route returns.
    return (await response.json()) as any
  }
  const { listId } = await call('POST', '/api/tasks', { title: 'First' })
  const webhook = { name: 'A receiver', url: receiverUrl, types: ['task.created'] }
  const { id } = await call('POST', '/api/webhooks', webhook)

  await delivered()
  await posted()
  const figure = await inPairs({
    name: 'deliveries to one webhook',
    unit: '/s',
    measure: delivered,
    reference: {
      name: `requests of its HTTP client, ${CONCURRENCY} at a time`,
      measure: () => whilePaused(service, posted),
    },
    ratioLimit: { atLeast: 0.15 },
  })
  client.close()
  await bare.stop()
  await service.stop()
  return [figure]

  /** Deliveries a second, with their results stored, of as many as wait. */
  async function delivered(): Promise<number> {
    await query(database, `update webhooks set next_attempt_at = now() + interval '1 hour'`)
    const tasks = Array.from({ length: BATCH }, (_, n) => ({
      title: `Task ${n}`,
      description: 'It does nothing.',
    }))
    for (let n = 0; n < DELIVERIES; n += BATCH) await call('POST', '/api/tasks/bulk', { listId, tasks })
    // What has changed is written as deliveries before the webhook is off.
    await call('PATCH', `/api/webhooks/${id}`, { isActive: false })
    const before = await countDelivered()
    const since = performance.now()
    await call('PATCH', `/api/webhooks/${id}`, { isActive: true })
    while ((await countDelivered()) < before + DELIVERIES) await sleep(POLL_MS)
    return DELIVERIES / ((performance.now() - since) / 1_000)
  }

  async function countDelivered(): Promise<number> {
    const [row] = await query<{ count: number }>(
      database,
      `select count(*)::integer from webhook_deliveries where finished_at is not null`,
    )
    return row?.count ?? 0
  }

  async function posted(): Promise<number> {
    const { signal } = new AbortController()
    const headers = { 'content-type': 'application/json' }
    let left = DELIVERIES
    const post = async () => {
      while (left-- > 0) {
        const { status } = await client.post({ url: receiverUrl, headers, body: BODY, signal })
        if (status !== 200) throw new Error(`The receiver responded with ${status}.`)
      }
    }
    const since = performance.now()
    await Promise.all(Array.from({ length: CONCURRENCY }, post))
    return DELIVERIES / ((performance.now() - since) / 1_000)
  }
}
