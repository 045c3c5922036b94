import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startCodeHost } from '../support/code-host.ts'
import { cleanUp } from '../support/inlet-process.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../support/trace-collector.ts'
import { startTraced } from '../support/traced-inlet.ts'
import { SENDING_ENV, startReceiver } from '../support/webhooks.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let collector: TraceCollector

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  collector = await startTraceCollector()
})
afterEach(async () => {
  await cleanUp()
  await collector.close()
})

const started = (env?: Record<string, string>) =>
  startTraced({ collector, connectionString: database.connectionString }, { ...SENDING_ENV, ...env })

describe('the trace of a background job', () => {
  test('of an outgoing webhook has the request, without the path of the URL, and tells the receiver nothing', async () => {
    const receiver = await startReceiver()
    const inlet = await started()
    const { body: webhook } = await inlet.post('/api/webhooks', {
      name: 'Traced',
      url: `${receiver.url}/token-in-path`,
    })
    await inlet.post('/api/tasks', { title: 'Sent' })
    const request = await inlet.span(({ name, kind }) => name === 'POST' && kind === 3)
    const { origin, hostname, port } = new URL(receiver.url)
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 204,
      'url.full': `${origin}/REDACTED`,
      'server.address': hostname,
      'server.port': Number(port),
    })
    const job = await inlet.span(({ spanId }) => spanId === request.parentSpanId)
    expect(job).toMatchObject({
      name: 'send webhook',
      parentSpanId: '',
      attributes: { 'inlet.webhook.id': webhook.id },
    })
    expect(Object.keys(receiver.received[0]?.headers ?? {})).not.toContain('traceparent')
    expect(collector.text()).not.toContain('token-in-path')
    expect(collector.text()).not.toContain(webhook.secret)
    await receiver.close()
  })

  test('of a failed request to a webhook has an error', async () => {
    const receiver = await startReceiver()
    receiver.respondWith(500)
    const inlet = await started()
    await inlet.post('/api/webhooks', { name: 'Failing', url: receiver.url })
    await inlet.post('/api/tasks', { title: 'Not accepted' })
    const port = Number(new URL(receiver.url).port)
    const isSent = ({ kind, attributes }: CollectedSpan) => kind === 3 && attributes['server.port'] === port
    expect(await inlet.span(isSent)).toMatchObject({
      status: 2,
      attributes: { 'http.response.status_code': 500, 'error.type': '500' },
    })
    await receiver.close()
  })

  test('of a sync run has its requests and statements, and tells the code host nothing', async () => {
    const token = 'token-of-the-host'
    const host = await startCodeHost({ tokens: { [token]: {} } })
    host.repository('acme/app').fill(3)
    const inlet = await started({ CODEHOST_API_URLS: host.url, CODEHOST_TOKEN: token })
    const { body: project } = await inlet.post('/api/projects', { name: 'Synced' })
    const connection = { repository: 'acme/app', schedule: 'off' }
    const path = `/api/projects/${project.id}/codehost`
    expect(await inlet.call('PUT', path, { body: connection })).toMatchObject({ status: 200 })
    await inlet.post(`/api/codehost/${project.id}/sync`, undefined)
    const job = await inlet.spanNamed('sync')
    expect(job).toMatchObject({
      parentSpanId: '',
      attributes: { 'inlet.project.id': project.id, 'inlet.sync_run.mode': 'incremental' },
    })
    const parts = collector.spans().filter(({ traceId, kind }) => traceId === job.traceId && kind === 3)
    const requests = parts.filter(({ name }) => name === 'GET')
    expect(requests).not.toEqual([])
    for (const { attributes, status } of requests) {
      expect(status).toBe(0)
      expect(attributes).toMatchObject({ 'http.response.status_code': 200, 'server.address': '127.0.0.1' })
      expect(attributes['url.full']).toMatch(new RegExp(`^${host.url}/[^?]*$`))
    }
    expect(parts.map(({ name }) => name)).toContain('upsert tasks')
    expect(host.requests.filter(({ headers }) => 'traceparent' in headers)).toEqual([])
    expect(collector.text()).not.toContain(token)
    await host.close()
  })
})
