import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskSort } from '../../src/schemas/task-query.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { callTool, mcpConnections } from '../support/mcp-clients.ts'

/** So many tasks a page of a search examines here: 20,000 otherwise. */
const EXAMINED = 6
const COUNT = 20

let service: TestApp
let projectId: string
let inbox: string
beforeAll(async () => {
  service = await startApp({ walk: 2, examined: EXAMINED })
  const project = await service.given.project()
  projectId = project.id
  inbox = project.inbox.id
  for (let n = 0; n < COUNT; n++) {
    const labels = n === 0 ? ['rare'] : []
    const title = n % 7 === 0 ? `Fix 東京 ${n}` : `Task ${n}`
    await service.post('/api/tasks', { title, listId: inbox, labels })
  }
  // The first one has a report, so that it is the first by reports.
  const [first, second] = (await service.get(`/api/tasks?sort=createdAt&projectId=${projectId}`)).body.data
  expect((await service.post(`/api/tasks/${second.id}/merge`, { into: first.id })).status).toBe(200)
  await service.service.tasks.indexTexts()
})
afterAll(() => service.close())

const connect = mcpConnections(() => service)

const search = async (query: string) =>
  (await service.get(`/api/tasks?projectId=${projectId}&q=${encodeURIComponent('東京')}&${query}`)).body

const titles = (data: { title: string }[]) => data.map(({ title }) => title)

describe('a search for a word that no index helps with', () => {
  test('ends a page early, even empty, and its cursor goes on', async () => {
    const sizes: number[] = []
    const found: string[] = []
    let cursor = ''
    do {
      const { data, nextCursor } = await search(`sort=createdAt&limit=5${cursor}`)
      sizes.push(data.length)
      found.push(...titles(data))
      cursor = nextCursor ? `&cursor=${nextCursor}` : ''
    } while (cursor)

    expect(sizes).toEqual([1, 1, 1, 0])
    expect(found).toEqual(['Fix 東京 0', 'Fix 東京 7', 'Fix 東京 14'])
  })

  test.each(TaskSort)('finds each task once on all pages sorted by %s', async (sort) => {
    const found: string[] = []
    let cursor = ''
    do {
      const { data, nextCursor } = await search(`sort=${sort}&limit=1${cursor}`)
      found.push(...titles(data))
      cursor = nextCursor ? `&cursor=${nextCursor}` : ''
    } while (cursor)

    expect(found.toSorted()).toEqual(['Fix 東京 0', 'Fix 東京 14', 'Fix 東京 7'])
  })

  test('looks through all that another index finds', async () => {
    const { data, nextCursor } = await search('label=rare')
    expect([titles(data), nextCursor]).toEqual([['Fix 東京 0'], null])
  })

  test('counts what it has examined, and says that there may be more', async () => {
    expect(await search('count=true&limit=1')).toMatchObject({ total: 1, totalIsExact: false })
    expect(await search('count=true&label=rare')).toMatchObject({ total: 1, totalIsExact: true })
  })

  test('has no count as a saved filter', async () => {
    const query = { q: '東京', projectId }
    const { body } = await service.post('/api/saved-filters', { name: 'Tokyo', query })
    expect(body.count).toBeNull()
  })

  test('goes on by itself for an assistant, to the first page with a task', async () => {
    const client = await connect()
    const query = { q: '東京', projectId, label: ['none'], limit: 5 }
    const lines = async (cursor?: string) =>
      (await callTool(client, 'list_tasks', { ...query, ...(cursor && { cursor }) })).data
    const first = await lines()
    expect(titles(first.data)).toEqual(['Fix 東京 14'])

    expect(titles((await lines(first.nextCursor)).data)).toEqual(['Fix 東京 7'])
  })
})
