import { describe, expect, test } from 'vitest'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { tracing } from '../support/traced-inlet.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SAMPLED = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }

const { connectionString, started } = tracing()

describe('the trace of a request', () => {
  test('has statements that go through a pooler', async () => {
    const inlet = await started({ DATABASE_DIRECT_URL: connectionString() })
    expect(await inlet.post('/api/tasks', { title: 'Through a pooler' })).toMatchObject({ status: 201 })
    const { spanId } = await inlet.spanNamed('create tasks')
    expect(await inlet.spanNamed('insert new tasks without external ids')).toMatchObject({
      parentSpanId: spanId,
      status: 0,
    })
  })

  test('begins here if OTEL_PROPAGATORS is none', async () => {
    const inlet = await started({ OTEL_PROPAGATORS: 'none' })
    await inlet.get('/api/projects', SAMPLED)
    const request = await inlet.spanNamed('GET /api/projects')
    expect(request.parentSpanId).toBe('')
    expect(request.traceId).not.toBe(TRACE)
  })

  test('has an error if the response is a 5xx, and none if it is a 4xx', async () => {
    const proxy = await startDatabaseProxy(connectionString())
    const inlet = await started({ DATABASE_URL: proxy.connectionString })
    await inlet.get('/api/tasks/00000000-0000-7000-8000-000000000000')
    const missing = await inlet.spanNamed('GET /api/tasks/:id')
    expect(missing).toMatchObject({ status: 0, attributes: { 'http.response.status_code': 404 } })
    expect(missing.attributes).not.toHaveProperty('error.type')

    proxy.close()
    expect(await inlet.get('/api/projects')).toMatchObject({ status: 503 })
    expect(await inlet.spanNamed('GET /api/projects')).toMatchObject({
      status: 2,
      attributes: { 'http.response.status_code': 503, 'error.type': '503' },
    })
  })
})
