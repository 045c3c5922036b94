import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { fillEverything, SECRET } from '../support/exported-data.ts'
import { type ExportLine, exported, importInto, linesIn, withoutHeader } from '../support/exports.ts'

let service: TestApp
let text: string
let lines: ExportLine[]
let ids: Awaited<ReturnType<typeof fillEverything>>

beforeAll(async () => {
  service = await startApp()
  ids = await fillEverything(service)
  text = await exported(service)
  lines = linesIn(text)
})
afterAll(() => service.close())

const ofKind = (kind: string) => lines.filter((line) => line.kind === kind)

describe('an export', () => {
  test('begins with a header, and ends with counts and a SHA-256', () => {
    expect(lines[0]).toEqual({
      kind: 'header',
      format: 1,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      createdAt: expect.any(String),
      epoch: expect.any(String),
    })
    const { kind, counts, sha256 } = lines.at(-1) ?? {}
    expect({ kind, sha256 }).toEqual({ kind: 'end', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    for (const [kind, count] of Object.entries(counts))
      expect([kind, ofKind(kind).length]).toEqual([kind, count])
  })

  test('has the kinds in an order in which each line follows those that it refers to', () => {
    expect([...new Set(lines.map(({ kind }) => kind))]).toEqual([
      'header',
      'project',
      'projectDeletion',
      'list',
      'listDeletion',
      'user',
      'task',
      'comment',
      'rule',
      'ruleVersion',
      'routingRule',
      'activity',
      'purgedItem',
      'source',
      'connection',
      'webhook',
      'label',
      'end',
    ])
  })

  test('has each value as the API has it', () => {
    expect(ofKind('task').find(({ id }) => id === ids.task)).toMatchObject({
      title: expect.stringContaining('\u0001\u001f\u007f \r\n\t'),
      priority: 'high',
      labels: ['Bug', 'a "b", {c}'],
      assignees: ['Ada', 'NULL'],
      metadata: { a: [1.5, null, { ключ: 'é' }] },
      createdAt: '2026-11-22T20:29:52.007Z',
      claimNumber: 4,
      blockedBy: [expect.any(String), expect.any(String)],
    })
    // More digits than a number of JavaScript has.
    expect(text).toContain('"codehostRepositoryId":9007199254740993')
    expect(ofKind('rule')[0]).toMatchObject({ priority: 0.1, paths: ['src/**', '{a,b}'] })
  })

  test('has a value for each member somewhere, so that these tests see all of them', () => {
    const empty = lines.flatMap((line) =>
      Object.keys(line).flatMap((member) =>
        ofKind(line.kind).some((other) => other[member] !== null) ? [] : [`${line.kind}.${member}`],
      ),
    )
    expect(empty).toEqual([])
  })

  test('has no secrets', () => {
    expect(text).not.toContain(SECRET)
  })

  test('is a file with a date', async () => {
    const response = await fetch(`${service.url}/api/export`, { headers: { 'x-api-key': service.adminKey } })
    await response.body?.cancel()
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="inlet-\d{4}-\d\d-\d\d\.ndjson"$/,
    )
  })

  test('is of one point in time', async () => {
    const { pieces, close } = await service.service.exports.open({} as never)
    await service.post('/api/tasks', { title: 'Created later' })
    const chunks: Buffer[] = []
    for await (const piece of pieces) chunks.push(piece)
    await close()
    expect(withoutHeader(Buffer.concat(chunks).toString())).toBe(withoutHeader(text))
  })

  test('gives back its connection when the client disconnects', async () => {
    const aborting = new AbortController()
    const { signal } = aborting
    await fetch(`${service.url}/api/export`, { headers: { 'x-api-key': service.adminKey }, signal })
    aborting.abort()
    await expect.poll(exportConnections).toBe(0)
  })

  test('is refused while three others are read', async () => {
    const open = await Promise.all([1, 2, 3].map(() => service.service.exports.open({} as never)))
    const refused = await service.get('/api/export')
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
    expect(refused.headers.get('retry-after')).toBe('30')
    for (const { close } of open) await close()
    await expect.poll(exportConnections).toBe(0)
    expect((await service.get('/api/export')).status).toBe(200)
  })
})

describe('an import of it', () => {
  test('and another export have the same lines', async () => {
    const other = await startApp()
    const imported = await importInto(other, text)
    expect([imported.status, imported.body]).toEqual([200, { counts: lines.at(-1)?.counts }])
    expect(withoutHeader(await exported(other))).toBe(withoutHeader(text))
    await other.close()
  })
})

async function exportConnections(): Promise<number> {
  const [row] = await service.query(
    `select count(*)::integer as count from pg_stat_activity
     where application_name = 'inlet export' and datname = current_database()`,
  )
  return row.count
}
