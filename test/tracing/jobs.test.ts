import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startCodeHost } from '../support/code-host.ts'
import { deliver, itemDelivery } from '../support/code-host-deliveries.ts'
import type { CollectedSpan } from '../support/trace-collector.ts'
import { sharedTracing } from '../support/traced-inlet.ts'
import { SENDING_ENV, startReceiver } from '../support/webhooks.ts'

const TOKEN = 'token-of-the-host'

const host = await startCodeHost({ tokens: { [TOKEN]: { login: 'inlet-bot' } } })
afterAll(() => host.close())

const { collector, inlet: running } = sharedTracing({
  ...SENDING_ENV,
  CODEHOST_API_URLS: host.url,
  CODEHOST_TOKEN: TOKEN,
})

async function receiverOfTest() {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}

/** An outgoing webhook, until the test has finished. */
async function webhookOfTest(input: { name: string; url: string }) {
  const { status, body } = await running().post('/api/webhooks', input)
  expect(status).toBe(201)
  onTestFinished(async () => {
    await running().call('DELETE', `/api/webhooks/${body.id}`)
  })
  return body
}

/** A project that is connected to a repository with three items. */
async function connected() {
  const inlet = running()
  const name = `acme/${randomUUID()}`
  const repository = host.repository(name)
  repository.fill(3)
  const { body: project } = await inlet.post('/api/projects', { name: 'Connected' })
  const path = `/api/projects/${project.id}/codehost`
  const body = { repository: name, schedule: 'off', writeBack: 'state' }
  const connection = await inlet.call('PUT', path, { body })
  expect(connection).toMatchObject({ status: 200 })
  return { repository, inlet, project, webhook: connection.body.webhook }
}

const partsOf = (span: CollectedSpan) => collector().partsOf(span)

/** Neither the code host nor the collector get what they must not have. */
function expectDiscretion() {
  expect(host.requests.filter(({ headers }) => 'traceparent' in headers)).toEqual([])
  expect(collector().text()).not.toContain(TOKEN)
}

describe('the trace of a background job', () => {
  test('of an outgoing webhook has the request, without the path of the URL, and tells the receiver nothing', async () => {
    const receiver = await receiverOfTest()
    const inlet = running()
    const webhook = await webhookOfTest({ name: 'Traced', url: `${receiver.url}/token-in-path` })
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
    expect(collector().text()).not.toContain('token-in-path')
    expect(collector().text()).not.toContain(webhook.secret)
  })

  test('of a failed request to a webhook has an error', async () => {
    const receiver = await receiverOfTest()
    receiver.respondWith(500)
    const inlet = running()
    await webhookOfTest({ name: 'Failing', url: receiver.url })
    await inlet.post('/api/tasks', { title: 'Not accepted' })
    const port = Number(new URL(receiver.url).port)
    const isSent = ({ kind, attributes }: CollectedSpan) => kind === 3 && attributes['server.port'] === port
    expect(await inlet.span(isSent)).toMatchObject({
      status: 2,
      attributes: { 'http.response.status_code': 500, 'error.type': '500' },
    })
  })

  test('of a sync run has its requests and statements, and tells the code host nothing', async () => {
    const { inlet, project } = await connected()
    await inlet.post(`/api/codehost/${project.id}/sync`, undefined)
    const job = await inlet.spanNamed('sync')
    expect(job).toMatchObject({
      parentSpanId: '',
      attributes: { 'inlet.project.id': project.id, 'inlet.sync_run.mode': 'incremental' },
    })
    const requests = partsOf(job).filter(({ name }) => name === 'GET')
    expect(requests).not.toEqual([])
    for (const { attributes, status } of requests) {
      expect(status).toBe(0)
      expect(attributes).toMatchObject({ 'http.response.status_code': 200, 'server.address': '127.0.0.1' })
      expect(attributes['url.full']).toMatch(new RegExp(`^${host.url}/[^?]*$`))
    }
    expect(partsOf(job).map(({ name }) => name)).toContain('upsert tasks')
    expectDiscretion()
  })

  test('of a change that is written back has the requests that read the code host and change it', async () => {
    const { inlet, project } = await connected()
    await inlet.post(`/api/codehost/${project.id}/sync`, undefined)
    await inlet.spanNamed('sync')
    const { body: tasks } = await inlet.get(`/api/tasks?projectId=${project.id}&q=%22Item%201%22`)
    const { status } = await inlet.call('PATCH', `/api/tasks/${tasks.data[0].id}`, {
      body: { status: 'done' },
    })
    expect(status).toBe(200)
    const job = await inlet.spanNamed('write back')
    expect(job).toMatchObject({ parentSpanId: '', status: 0 })
    expect(job.attributes).toEqual({ 'inlet.connection.id': expect.stringMatching(/^[0-9a-f-]{36}$/) })
    const methods = partsOf(job).flatMap(({ attributes }) => attributes['http.request.method'] ?? [])
    expect(methods).toEqual(['GET', 'PATCH'])
    expect(partsOf(job).some(({ attributes }) => 'db.query.summary' in attributes)).toBe(true)
    expectDiscretion()
  })

  test('of deliveries of the code host has their statements, and what has to be asked is a trace of its own', async () => {
    const { repository, inlet, webhook } = await connected()
    const about = { api: host.url, repository: repository.about }
    const item = repository.issue({ title: 'titled-words' })
    expect(await deliver(webhook, itemDelivery(item, { ...about, action: 'opened' }))).toMatchObject({
      status: 202,
    })
    const job = await inlet.spanNamed('apply deliveries')
    expect(job).toMatchObject({ parentSpanId: '', status: 0 })
    expect(job.attributes).toEqual({ 'inlet.connection.id': expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect(partsOf(job).map(({ name }) => name)).toContain('upsert tasks')

    // In the same second, which change came first only the code host knows.
    Object.assign(item, { title: 'changed-words' })
    const edited = await deliver(webhook, itemDelivery(item, { ...about, action: 'edited' }))
    expect(edited).toMatchObject({ status: 202 })
    const asking = await inlet.spanNamed('refetch')
    expect(asking).toMatchObject({ parentSpanId: '', attributes: job.attributes })
    expect(partsOf(asking).map(({ name }) => name)).toContain('GET')
    expect(collector().text()).not.toMatch(/titled-words|changed-words/)
    expectDiscretion()
  })
})
