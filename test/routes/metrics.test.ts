import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { deliver, itemDelivery } from '../support/code-host-deliveries.ts'
import { feedback, sender } from '../support/feedback.ts'
import { measured, readMetrics } from '../support/metrics.ts'
import { UNKNOWN_ID } from '../support/patterns.ts'
import { listenTo } from '../support/stream.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'

const REQUESTS = 'inlet_http_request_duration_seconds_count'

let service: Syncing
beforeAll(async () => {
  service = await startSyncing({ env: { WEBHOOK_SECRET: 'a-secret-of-16-characters' } })
})
afterAll(() => service.close())

async function scrape(on: Pick<TestApp, 'get'> = service): Promise<string> {
  const { status, body } = await on.get('/metrics')
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

describe('/metrics', () => {
  test('requires metrics:read or admin for all projects, by key or session', async () => {
    const project = await service.given.project()
    const reader = await service.given.key({ scopes: ['tasks:read', 'rules:read'] })
    const bound = await service.given.key({ scopes: ['admin'], projectId: project.id })
    const prometheus = await service.given.key({ scopes: ['metrics:read'] })
    const session = await service.post('/api/sessions', { key: service.adminKey }, { key: null })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''

    const responses = [
      await service.get('/metrics', { key: null }),
      await service.get('/metrics', { key: null, headers: { authorization: `Basic ${service.adminKey}` } }),
      await service.get('/metrics', { key: reader }),
      await service.get('/metrics', { key: bound }),
      await service.get('/metrics'),
      await service.get('/metrics', { key: null, headers: { cookie } }),
      await service.get('/metrics', { key: prometheus }),
    ]

    expect(responses.map(({ status }) => status)).toEqual([401, 401, 403, 403, 200, 200, 200])
    expect((await service.get('/api/tasks', { key: prometheus })).status).toBe(403)
    expect(responses[4]?.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  test('is in the text format, each family once with its help', async () => {
    await service.get('/api/tasks')
    const families = readMetrics(await scrape())

    const names = families.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, help, type, samples } of families) {
      expect([name, help, type]).toEqual([name, expect.stringMatching(/\w/), expect.stringMatching(/\w/)])
      const counters = samples.filter(() => type === 'counter')
      for (const { value } of counters) expect(value).toBeGreaterThanOrEqual(0)
      if (type === 'counter') expect(name).toMatch(/_total$/)
    }
  })

  test('has what docs/operating.md lists, and no other metric of Inlet', async () => {
    const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
    const listed = [...page.matchAll(/^\| `(inlet_\w+)`/gm)].map(([, name]) => name)
    const ours = readMetrics(await scrape())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('inlet_'))

    const withEmbedded = ['inlet_embedded_server_up', 'inlet_embedded_server_restarts_total']
    expect(listed.toSorted()).toEqual([...ours, ...withEmbedded].sort())
  })
})

test('outcomes in the documented alerts are 0 before they first happen', async () => {
  const fresh = await startApp({ connectionString: service.connectionString })
  try {
    const families = readMetrics(await scrape(fresh))
    const outcomes = (of: string) =>
      families
        .find(({ name }) => name === of)
        ?.samples.map(({ labels, value }) => [labels.outcome, value])
        .sort()

    expect(outcomes('inlet_sync_runs_total')).toEqual([
      ['completed', 0],
      ['failed', 0],
      ['rate_limited', 0],
    ])
    expect(outcomes('inlet_codehost_deliveries_total')).toEqual([
      ['applied', 0],
      ['dropped', 0],
      ['duplicate', 0],
      ['failed', 0],
      ['received', 0],
      ['refused', 0],
      ['unavailable', 0],
    ])
    expect(outcomes('inlet_receiver_deliveries_total')).toEqual([
      ['created', 0],
      ['duplicate', 0],
      ['failed', 0],
      ['ignored', 0],
      ['refused', 0],
      ['rejected', 0],
      ['unavailable', 0],
      ['unreadable', 0],
    ])
  } finally {
    await fresh.close()
  }
})

describe('a request', () => {
  test('counts under the pattern of its route and the class of its status', async () => {
    const { body: task } = await service.post('/api/tasks', { title: 'Counted' })
    const before = await scrape()

    for (const id of [task.id, task.id, UNKNOWN_ID]) await service.get(`/api/tasks/${id}`)

    const after = await scrape()
    const counted = (status: string) => {
      const labels = { method: 'GET', route: '/api/tasks/:id', status }
      return measured(after, REQUESTS, labels) - measured(before, REQUESTS, labels)
    }
    expect([counted('2xx'), counted('4xx')]).toEqual([2, 1])
    expect(after).not.toContain(task.id)
  })

  test('to an unknown URL counts under one label, whatever the URL and method', async () => {
    const before = measured(await scrape(), REQUESTS, { route: 'unmatched' })

    for (const path of ['/api/nope/1', '/api/nope/2', '/mcp/nope']) await service.get(path)
    // A page of the dashboard.
    await service.get('/nowhere')
    await service.call('PURGE', '/api/nope/3')

    const after = await scrape()
    expect(measured(after, REQUESTS, { route: 'unmatched' }) - before).toBe(4)
    expect(after).not.toMatch(/nope|nowhere|PURGE/)
  })
})

test('a delivery of feedback counts by its outcome', async () => {
  const send = sender(service.url, 'a-secret-of-16-characters')
  const event = feedback()
  const before = await scrape()

  await send(event)
  await send(event)
  await send(feedback({}, { event: 'page_viewed' }))
  await send(feedback({ sentiment: 'none of the three' }))
  await send('{"broken')
  await sender(service.url, 'a wrong secret')(event)

  const after = await scrape()
  const counted = ['created', 'duplicate', 'ignored', 'rejected', 'unreadable', 'refused'].map(
    (outcome) =>
      measured(after, 'inlet_receiver_deliveries_total', { outcome }) -
      measured(before, 'inlet_receiver_deliveries_total', { outcome }),
  )
  expect(counted).toEqual([1, 1, 1, 1, 1, 1])
  const unreadable = 'inlet_receiver_unreadable_deliveries'
  expect(measured(after, unreadable) - measured(before, unreadable)).toBe(1)
})

test('a delivery of the code host counts when it arrives, and when it is applied', async () => {
  const { project, repository } = await service.connected()
  const { body } = await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)
  const about = { api: service.host.url, repository: { ...repository, isPrivate: false } }
  const opened = itemDelivery(repository.issue(), { ...about, action: 'opened' })
  const before = await scrape()

  const ids = { deliveryId: 'the-same' }
  await deliver(body, opened, ids)
  await deliver(body, opened, ids)
  await deliver(body, { event: 'watch', payload: {} })
  await deliver(body, { event: 'issues', payload: { ...opened.payload, issue: {} } })
  await deliver({ ...body, secret: 'wrong' }, opened)

  await expect
    .poll(async () => {
      const after = await scrape()
      return ['received', 'duplicate', 'dropped', 'applied', 'failed', 'refused', 'unavailable'].map(
        (outcome) =>
          measured(after, 'inlet_codehost_deliveries_total', { outcome }) -
          measured(before, 'inlet_codehost_deliveries_total', { outcome }),
      )
    })
    .toEqual([3, 1, 1, 1, 1, 1, 0])
})

test('the age of the oldest delivery that waits is shown, until it is applied', async () => {
  const oldest = async () => measured(await scrape(), 'inlet_codehost_oldest_delivery_seconds')
  await expect.poll(oldest).toBe(0)
  const { project, repository } = await service.connected()
  const { body } = await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)
  const isName = ({ url }: { url: string }) => url === `/repositories/${repository.id}`
  service.host.fault({ status: 503 }, { times: Number.POSITIVE_INFINITY, matches: isName })
  await deliver(body, {
    event: 'repository',
    payload: { action: 'renamed', repository: { id: repository.id } },
  })
  const waiting = (change: string) =>
    service.query(`update deliveries set ${change} where outcome = 'pending'`)
  await waiting("received_at = received_at - interval '1 hour'")
  expect(await oldest()).toBeGreaterThanOrEqual(3_600)
  service.host.heal()
  await expect
    .poll(async () => {
      await waiting('next_attempt_at = received_at')
      return oldest()
    })
    .toBe(0)
})

test('a sync counts its end, the outcome of each item, and its requests to the code host', async () => {
  const { sync, repository } = await service.connected({}, 3)
  const before = await scrape()

  const run = await sync()
  expect(run.status).toBe('completed')

  const after = await scrape()
  const counted = (name: string, labels: Record<string, string>) =>
    measured(after, name, labels) - measured(before, name, labels)
  expect(counted('inlet_sync_runs_total', { outcome: 'completed' })).toBe(1)
  const items = ['created', 'updated', 'unchanged'].map((outcome) =>
    counted('inlet_sync_entries_total', { outcome }),
  )
  expect(items.reduce((sum, count) => sum + count)).toBe(3)
  expect(items[0]).toBe(3)
  expect(counted('inlet_job_duration_seconds_count', { queue: 'sync', outcome: 'completed' })).toBe(1)
  const host = service.host.url
  expect(counted('inlet_codehost_requests_total', { host, outcome: 'page' })).toBeGreaterThan(0)
  expect(after).toContain(`inlet_codehost_rate_limit_remaining{host="${host}"}`)
  expect(after).not.toContain(repository.name)
})

test('background work is timed, by its outcome', async () => {
  const { metrics } = service.service
  await metrics.timed('measured', async () => {})
  await metrics.timed('measured', () => Promise.reject(new Error('no'))).catch(() => {})

  const text = await scrape()

  for (const outcome of ['completed', 'failed']) {
    expect(measured(text, 'inlet_job_duration_seconds_count', { queue: 'measured', outcome })).toBe(1)
  }
})

test('streams, the pool and the database have their present values', async () => {
  const before = measured(await scrape(), 'inlet_stream_clients')
  const stream = await listenTo(service)
  await expect
    .poll(async () => measured(await scrape(), 'inlet_stream_clients'), { timeout: 30_000 })
    .toBe(before + 1)

  const text = await scrape()
  expect(measured(text, 'inlet_database_up')).toBe(1)
  expect(measured(text, 'inlet_database_restarts_total')).toBe(0)
  expect(measured(text, 'inlet_pool_connections')).toBeGreaterThan(0)
  expect(measured(text, 'inlet_pool_connections_max')).toBe(10)
  expect(measured(text, 'inlet_build_info', { node: process.version })).toBe(1)
  expect(measured(text, 'process_resident_memory_bytes')).toBeGreaterThan(0)

  stream.close()
  await expect
    .poll(async () => measured(await scrape(), 'inlet_stream_clients'), { timeout: 30_000 })
    .toBe(before)
})
