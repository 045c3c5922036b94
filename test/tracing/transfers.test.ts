import { describe, expect, test } from 'vitest'
import { ADMIN_KEY } from '../support/inlet-process.ts'
import { emptyDatabase } from '../support/postgres.ts'
import type { CollectedSpan } from '../support/trace-collector.ts'
import { tracing } from '../support/traced-inlet.ts'

const { collector, started } = tracing()

const childrenOf = ({ spanId }: CollectedSpan) =>
  collector()
    .spans()
    .filter(({ parentSpanId }) => parentSpanId === spanId)

/** Exports all data as text. */
async function exported({ origin }: URL): Promise<string> {
  const response = await fetch(`${origin}/api/export`, { headers: { 'x-api-key': ADMIN_KEY } })
  expect(response.status).toBe(200)
  return response.text()
}

describe('the trace', () => {
  test('of an export has what is read of each table', async () => {
    const inlet = await started()
    await inlet.post('/api/tasks', { title: 'titled-words' })
    expect(await exported(inlet.address)).toContain('titled-words')
    const request = await inlet.spanNamed('GET /api/export')
    const reads = childrenOf(request).filter(({ name }) => name.startsWith('export '))
    expect(reads.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['export projects', 'export tasks', 'export activity']),
    )
    for (const { name, kind, status, attributes } of reads) {
      expect([kind, status]).toEqual([3, 0])
      expect(attributes).toMatchObject({
        'db.system.name': 'postgresql',
        'db.operation.name': 'COPY',
        'db.query.summary': name,
      })
    }
    expect(collector().text()).not.toContain('titled-words')
  })

  test('of an import has the wait for other writes, and one span for all lines', async () => {
    const source = await started()
    await source.post('/api/tasks', { title: 'titled-words' })
    const file = await exported(source.address)
    const database = await emptyDatabase()
    const inlet = await started({ DATABASE_URL: database.connectionString })
    const response = await fetch(`${inlet.address.origin}/api/import`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/x-ndjson' },
      body: file,
    })
    expect(response.status).toBe(200)
    const request = await inlet.spanNamed('POST /api/import')
    const lines = await inlet.spanNamed('import lines')
    expect(lines).toMatchObject({
      kind: 1,
      status: 0,
      traceId: request.traceId,
      parentSpanId: request.spanId,
    })
    expect(childrenOf(lines)).toEqual([])
    expect(childrenOf(request).map(({ name }) => name)).toEqual(expect.arrayContaining(['LOCK', 'COMMIT']))
    expect(collector().text()).not.toContain('titled-words')
    await inlet.end()
    await database.drop()
  })
})
