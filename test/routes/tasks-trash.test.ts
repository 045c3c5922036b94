import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Task } from '../../src/schemas/task.ts'
import { startApp, type TestApp } from '../support/app.ts'

const DAY_MS = 86_400_000

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

const titlesOf = ({ body }: { body: { data: Task[] } }) => body.data.map(({ title }) => title)
const ago = (ms: number) => new Date(Date.now() - ms)

/** Tasks that were deleted in another order than they were made, two of them at once. */
async function givenTrash() {
  const { id: projectId, inbox } = await service.given.project()
  const deletionTime = ago(DAY_MS)
  for (const [title, deletedAt, priority] of [
    ['a', ago(3 * DAY_MS), 3],
    ['b', ago(1000), 1],
    ['c', deletionTime, 2],
    ['d', deletionTime, 3],
    ['kept', null, 2],
    ['gone', ago(30 * DAY_MS + 1000), 2],
    ['nearly gone', ago(30 * DAY_MS - 60_000), 2],
  ] as const) {
    await service.given.task(inbox, { title, deletedAt, priority })
  }
  return projectId
}

describe('the trash', () => {
  test.each([
    ['', ['b', 'd', 'c', 'a', 'nearly gone']],
    ['&sort=-updatedAt', ['b', 'd', 'c', 'a', 'nearly gone']],
    ['&sort=updatedAt', ['nearly gone', 'a', 'c', 'd', 'b']],
    ['&sort=createdAt', ['a', 'b', 'c', 'd', 'nearly gone']],
    ['&sort=-createdAt', ['nearly gone', 'd', 'c', 'b', 'a']],
    ['&sort=-priority', ['d', 'a', 'nearly gone', 'c', 'b']],
    ['&priority=high', ['d', 'a']],
    ['&q=nearly', ['nearly gone']],
  ])('has the tasks deleted in the last 30 days, page by page%s', async (query, expected) => {
    const path = `/api/tasks?projectId=${await givenTrash()}&deleted=true${query}`

    expect(titlesOf(await service.get(path))).toEqual(expected)

    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await service.get(`${path}&limit=2${cursor && `&cursor=${cursor}`}`)
      seen.push(...titlesOf(page))
      cursor = page.body.nextCursor
    }
    expect(seen).toEqual(expected)
  })

  test('and other lists have no task in common', async () => {
    const projectId = await givenTrash()

    for (const query of ['', '&deleted=false'])
      expect(titlesOf(await service.get(`/api/tasks?projectId=${projectId}${query}`))).toEqual(['kept'])
  })

  test('gains what is deleted and loses what is restored', async () => {
    const { id: projectId, inbox } = await service.given.project()
    const path = `/api/tasks?projectId=${projectId}&deleted=true`
    const task = (await service.post('/api/tasks', { title: 'A', listId: inbox.id })).body

    await service.delete(`/api/tasks/${task.id}`)
    expect(titlesOf(await service.get(path))).toEqual(['A'])

    await service.post(`/api/tasks/${task.id}/restore`)
    expect(titlesOf(await service.get(path))).toEqual([])
  })

  test('shows a bound key only its project', async () => {
    const projectId = await givenTrash()
    const other = await service.given.project()
    const key = await service.given.key({ projectId: other.id })

    expect(titlesOf(await service.get('/api/tasks?deleted=true', { key }))).toEqual([])
    expect((await service.get(`/api/tasks?deleted=true&projectId=${projectId}`, { key })).status).toBe(404)
    expect(titlesOf(await service.get('/api/tasks?deleted=true&limit=200'))).toContain('nearly gone')
  })

  test('has cursors of its own', async () => {
    const projectId = await givenTrash()
    const { nextCursor } = (await service.get(`/api/tasks?projectId=${projectId}&deleted=true&limit=1`)).body

    const refused = await service.get(
      `/api/tasks?projectId=${projectId}&sort=-updatedAt&cursor=${nextCursor}`,
    )

    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  })
})
