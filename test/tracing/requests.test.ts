import { randomBytes } from 'node:crypto'
import * as conventions from '@opentelemetry/semantic-conventions'
import { describe, expect, test } from 'vitest'
import { ADMIN_KEY } from '../support/inlet-process.ts'
import { sharedTracing } from '../support/traced-inlet.ts'

const CALLER = 'b7ad6b7169203331'

/** The headers of a caller with a trace of its own. */
function callerOf({ isSampled }: { isSampled: boolean }) {
  const traceId = randomBytes(16).toString('hex')
  return { traceId, headers: { traceparent: `00-${traceId}-${CALLER}-0${isSampled ? 1 : 0}` } }
}

const { collector, connectionString, inlet } = sharedTracing({ WEBHOOK_SECRET: 'a-secret-of-the-receiver' })

describe('the trace of a request', () => {
  test('has the request, named by its route', async () => {
    const { body: task } = await inlet().post('/api/tasks', { title: 'Traced' })
    const created = await inlet().spanNamed('POST /api/tasks')
    expect(created).toMatchObject({ kind: 2, status: 0, parentSpanId: '' })
    expect(created.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/api/tasks',
      'http.response.status_code': 201,
      'url.path': '/api/tasks',
      'url.scheme': 'http',
      'server.address': inlet().address.hostname,
      'server.port': Number(inlet().address.port),
    })
    await inlet().get(`/api/tasks/${task.id}`)
    const read = await inlet().spanNamed('GET /api/tasks/:id')
    expect(read.attributes).toMatchObject({
      'http.route': '/api/tasks/:id',
      'url.path': `/api/tasks/${task.id}`,
    })
  })

  test('has the statements that the request needed', async () => {
    await inlet().get('/api/projects')
    const request = await inlet().spanNamed('GET /api/projects')
    const statements = collector()
      .spans()
      .filter(({ parentSpanId }) => parentSpanId === request.spanId)
    expect(statements).not.toEqual([])
    for (const { name, kind, traceId, attributes } of statements) {
      expect([kind, traceId]).toEqual([3, request.traceId])
      expect(attributes).toMatchObject({
        'db.system.name': 'postgresql',
        'db.namespace': new URL(connectionString()).pathname.slice(1),
        'db.operation.name': 'SELECT',
        'db.query.summary': name,
      })
    }
  })

  test('names statements that are built for a request by what they do', async () => {
    await inlet().post('/api/tasks', { title: 'Claimed' })
    await inlet().get('/api/tasks?limit=7')
    await inlet().post('/api/tasks/claim', {})
    await inlet().spanNamed('keys of a page of tasks')
    await inlet().spanNamed('claim next tasks')
    const names = collector()
      .spans()
      .map(({ name }) => name)
    // Of a route, such as /problems/404, a digit would be of a path.
    expect(names.filter((name) => /[#\d]/.test(name))).toEqual([])
  })

  test('continues the trace of the caller', async () => {
    const { traceId, headers } = callerOf({ isSampled: true })
    await inlet().get('/api/projects', headers)
    expect(await inlet().spanNamed('GET /api/projects')).toMatchObject({ traceId, parentSpanId: CALLER })
  })

  test('is not made if the caller does not sample its trace', async () => {
    const { traceId, headers } = callerOf({ isSampled: false })
    await inlet().get('/api/projects', headers)
    await inlet().get('/api/me')
    await inlet().spanNamed('GET /api/me')
    expect(
      collector()
        .spans()
        .filter((span) => span.traceId === traceId),
    ).toEqual([])
  })

  test('names its attributes as the semantic conventions do', async () => {
    await inlet().post('/api/tasks', { title: 'Named' })
    await inlet().spanNamed('POST /api/tasks')
    const names = collector()
      .spans()
      .flatMap(({ attributes }) => Object.keys(attributes))
    const known = new Set(Object.values<unknown>(conventions))
    expect(names.filter((name) => !known.has(name))).toEqual([])
  })

  test('has no requests of probes', async () => {
    for (const probe of ['/healthz', '/readyz', '/metrics']) await inlet().get(probe)
    await inlet().get('/api/me')
    await inlet().spanNamed('GET /api/me')
    expect(collector().text()).not.toMatch(/healthz|readyz|metrics/)
  })

  test('of creates that share a statement names all of them', async () => {
    const creates = Array.from({ length: 40 }, (_, nth) =>
      inlet().post('/api/tasks', { title: `Task ${nth}` }),
    )
    await Promise.all(creates)
    const batch = await inlet().span(({ name, links }) => name === 'create tasks' && links.length > 0)
    const requests = () =>
      collector()
        .spans()
        .filter(({ name }) => name === 'POST /api/tasks')
    await expect.poll(() => requests().length).toBe(40)
    const idsOf = (spans: { spanId: string }[]) => spans.map(({ spanId }) => spanId)
    expect(idsOf(requests())).toContain(batch.parentSpanId)
    expect(idsOf(requests())).toEqual(expect.arrayContaining(idsOf(batch.links)))
    const linked = requests().filter(({ links }) => idsOf(links).includes(batch.spanId))
    expect(idsOf(linked).sort()).toEqual(idsOf(batch.links).sort())
    const statement = await inlet().span(({ parentSpanId }) => parentSpanId === batch.spanId)
    expect(statement).toMatchObject({ name: 'insert new tasks without external ids', traceId: batch.traceId })
  })

  test('of a stream ends with its client, and has nothing of what is read for all streams', async () => {
    const leaving = new AbortController()
    const stream = await fetch(`${inlet().address.origin}/api/stream`, {
      headers: { 'x-api-key': ADMIN_KEY },
      signal: leaving.signal,
    })
    await inlet().post('/api/tasks', { title: 'Streamed' })
    let received = ''
    for await (const text of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += text
      if (received.includes('task.created')) break
    }
    leaving.abort()
    expect(await inlet().spanNamed('GET /api/stream')).toMatchObject({
      status: 0,
      attributes: { 'http.response.status_code': 200 },
    })
    // Of the reader that found the task.
    expect(
      collector()
        .spans()
        .map(({ name }) => name),
    ).not.toContain('give positions')
  })

  test('is named in the log lines of the request', async () => {
    const { traceId, headers } = callerOf({ isSampled: true })
    await inlet().get('/api/projects', headers)
    const { spanId } = await inlet().spanNamed('GET /api/projects')
    const lines = inlet().output().split('\n')
    expect(
      lines.filter((line) => line.includes(traceId) && line.includes('"route":"/api/projects"')),
    ).toEqual([expect.stringContaining(`"trace_id":"${traceId}","span_id":"${spanId}","trace_flags":"01"`)])
  })

  test('has no secrets, no values of the query, and no content', async () => {
    await inlet().get('/api/tasks?q=searched-words')
    await inlet().post('/api/tasks', { title: 'titled-words', description: 'described-words' })
    await inlet().post('/api/tasks', { title: 5, notes: 'refused-words' })
    await inlet().post(
      '/api/analytics/webhook',
      { event: 'survey sent', distinct_id: 'person-words', properties: { note: 'noted-words' } },
      { authorization: 'Bearer a-secret-of-the-receiver' },
    )
    await inlet().post('/api/keys', { name: 'named-words', scopes: ['tasks:read'] })
    await inlet().spanNamed('POST /api/keys')
    expect(collector().text()).not.toMatch(/-words|a-secret-of/)
    expect(collector().text()).not.toContain(ADMIN_KEY)
  })
})
