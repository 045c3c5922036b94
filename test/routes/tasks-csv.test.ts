import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const CSV = { headers: { accept: 'text/csv' } }

let service: TestApp
let projectId: string
let place: { id: string; projectId: string }

beforeAll(async () => {
  service = await startApp()
  const project = await service.given.project({ name: 'Büro; "one"' })
  projectId = project.id
  place = { id: project.inbox.id, projectId }
  for (const title of ['=HYPERLINK("https://example.com")', 'one, "two"\r\nthree', 'plain']) {
    await service.given.task(place, { title, labels: ['bug', 'a, b'], description: '  ü 😀\n' })
  }
})
afterAll(() => service.close())

describe('GET /api/tasks with Accept: text/csv', () => {
  test('returns the tasks as a file of a spreadsheet', async () => {
    const response = await fetch(`${service.url}/api/tasks?projectId=${projectId}&sort=createdAt`, {
      headers: { 'x-api-key': service.adminKey, accept: 'text/csv' },
    })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="tasks.csv"')
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    const [header, ...rows] = rowsIn(bytes.toString())
    expect(header?.slice(0, 7)).toEqual(['id', 'title', 'status', 'priority', 'project', 'list', 'labels'])
    const titleAndPlace = rows.map(([, title, status, priority, project, list, labels]) => [
      ...[title, status, priority, project, list, labels],
    ])
    const others = ['open', 'medium', 'Büro; "one"', 'Inbox', 'bug, a, b']
    expect(titleAndPlace).toEqual([
      [`'=HYPERLINK("https://example.com")`, ...others],
      ['one, "two"\r\nthree', ...others],
      ['plain', ...others],
    ])
  })

  test('has what the JSON has', async () => {
    const path = `/api/tasks?projectId=${projectId}&q=plain`
    const [task] = (await service.get(path)).body.data
    const [header = [], row = []] = rowsIn((await service.get(path, CSV)).body)
    const cells = Object.fromEntries(header.map((name, index) => [name, row[index]]))
    expect(cells).toMatchObject({
      id: task.id,
      projectId,
      listId: place.id,
      createdAt: task.createdAt,
      description: '  ü 😀\n',
      metadata: '{}',
      version: '1',
      isReady: 'true',
      externalId: '',
      createdBy: 'test',
    })
  })

  test('applies every filter and the sort, and leaves out long columns of a summary', async () => {
    const path = `/api/tasks?projectId=${projectId}&q=one&fields=summary`
    const [header, ...rows] = rowsIn((await service.get(path, CSV)).body)
    expect(header).not.toContain('description')
    expect(rows).toHaveLength(1)
  })

  test('returns more tasks than a page has, each once', async () => {
    const { id, inbox } = await service.given.project()
    await service.given.tasks({ id: inbox.id, projectId: id }, 450)
    for (const sort of ['createdAt', '-updatedAt', '-priority']) {
      const [, ...rows] = rowsIn(
        (await service.get(`/api/tasks?projectId=${id}&sort=${sort}&limit=1`, CSV)).body,
      )
      expect(new Set(rows.map(([taskId]) => taskId)).size).toBe(450)
      expect(rows).toHaveLength(450)
    }
  })

  test('returns tasks that are too large together', async () => {
    const { id, inbox } = await service.given.project()
    const list = { id: inbox.id, projectId: id }
    const description = 'ä"\n'.repeat(30_000)
    for (let i = 0; i < 12; i++) await service.given.task(list, { title: `Large ${i}`, description })
    const [header = [], ...rows] = rowsIn((await service.get(`/api/tasks?projectId=${id}`, CSV)).body)
    const at = header.indexOf('description')
    expect(rows.map((row) => row[at])).toEqual(Array(12).fill(description))
  })

  test('without any task is a header', async () => {
    const { id } = await service.given.project()
    expect(rowsIn((await service.get(`/api/tasks?projectId=${id}`, CSV)).body)).toHaveLength(1)
  })

  test('shows a bound key only its project, and has the errors of the JSON', async () => {
    const key = await service.given.key({ projectId, scopes: ['tasks:read'] })
    expect(rowsIn((await service.get('/api/tasks', { key, ...CSV })).body)).toHaveLength(4)
    const unknown = await service.get('/api/tasks?projectId=00000000-0000-7000-8000-000000000000', CSV)
    expect([unknown.status, unknown.body.code]).toEqual([404, 'project_not_found'])
    expect((await service.get('/api/tasks?nope=1', CSV)).status).toBe(400)
  })

  test.each(['text/csv', 'application/json;q=0.5, text/csv', 'text/*', 'TEXT/CSV;q=0.9, */*;q=0.1'])(
    'returns CSV for Accept: %s',
    async (accept) => {
      const { headers } = await service.get('/api/tasks', { headers: { accept } })
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    },
  )

  const JSON_TYPES = ['text/csv;q=0, */*', 'text/csv;q=0.5, application/json', 'application/json, text/csv']
  test.each(['application/json', '*/*', 'text/html', 'text/csvx', ...JSON_TYPES])(
    'returns JSON for Accept: %s',
    async (accept) => {
      expect((await service.get('/api/tasks', { headers: { accept } })).body.data).toBeInstanceOf(Array)
    },
  )
})

/** A reader of RFC 4180 of its own. */
function rowsIn(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  for (const [, quoted, plain = '', end] of text.replace(/^\uFEFF/, '').matchAll(cell)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    rows.push(row)
    row = []
  }
  return rows
}
