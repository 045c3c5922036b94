import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'

const SORTS = [
  '-createdAt',
  'createdAt',
  '-openedAt',
  'openedAt',
  '-updatedAt',
  'updatedAt',
  '-priority',
] as const

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

interface Listed {
  id: string
  createdAt: string
  openedAt: string
  updatedAt: string
  priority: string
}

/** A project with many tasks that share their times and priorities, so that every order has ties. */
async function givenTies(count: number) {
  const project = await service.given.project()
  const list = await service.given.list(project.id)
  for (let n = 0; n < count; n++) {
    await service.given.task(n % 2 ? list : project.inbox, {
      createdAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 4)),
      openedAt: new Date(Date.UTC(2020, 0, 1) + (n % 5)),
      updatedAt: new Date(Date.UTC(2026, 0, 2) + (n % 3)),
      priority: (n % 3) + 1,
    })
  }
  return { projectId: project.id, listId: list.id }
}

async function walk(query: string, betweenPages: () => Promise<unknown> = async () => {}): Promise<Listed[]> {
  const seen: Listed[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await service.get(`/api/tasks?${query}${cursor && `&cursor=${cursor}`}`)
    expect(page.status).toBe(200)
    seen.push(...page.body.data)
    cursor = page.body.nextCursor
    if (cursor) await betweenPages()
  }
  return seen
}

const RANK: Record<string, number> = { low: 1, medium: 2, high: 3 }

/** What each sort promises: its own value first, then the ids, in one direction. */
function inOrder(sort: (typeof SORTS)[number], tasks: Listed[]): Listed[] {
  const keyOf = (task: Listed) =>
    sort === '-priority'
      ? RANK[task.priority]
      : task[sort.replace('-', '') as 'createdAt' | 'openedAt' | 'updatedAt']
  const ascending = tasks.toSorted((a, b) => compare(keyOf(a), keyOf(b)) || compare(a.id, b.id))
  return sort.startsWith('-') ? ascending.reverse() : ascending
}

const compare = (a: string | number = '', b: string | number = '') => (a === b ? 0 : a < b ? -1 : 1)

describe('reading all pages', () => {
  test.each(SORTS)('returns every task once and in order, also with equal sort values: %s', async (sort) => {
    const { projectId, listId } = await givenTies(23)

    for (const scope of [`projectId=${projectId}`, `listId=${listId}`]) {
      const whole = (await service.get(`/api/tasks?${scope}&sort=${sort}&limit=200`)).body.data as Listed[]
      const walked = await walk(`${scope}&sort=${sort}&limit=4`)

      expect(walked).toEqual(whole)
      expect(walked).toEqual(inOrder(sort, walked))
      expect(new Set(walked.map(({ id }) => id)).size).toBe(scope.startsWith('project') ? 23 : 11)
    }
  })

  test.each(SORTS)('works without any filter: %s', async (sort) => {
    const { projectId } = await givenTies(5)
    const key = await service.given.key({ projectId })

    const first = await service.get(`/api/tasks?sort=${sort}&limit=3`, { key })
    const second = await service.get(`/api/tasks?sort=${sort}&limit=3&cursor=${first.body.nextCursor}`, {
      key,
    })

    const walked = [...first.body.data, ...second.body.data]
    expect(walked).toHaveLength(5)
    expect(walked).toEqual(inOrder(sort, walked))
  })

  test.each(SORTS)(
    'neither repeats nor skips existing tasks while new ones are created: %s',
    async (sort) => {
      const { projectId, listId } = await givenTies(20)
      const before = await walk(`projectId=${projectId}&sort=${sort}&limit=200`)

      const walked = await walk(`projectId=${projectId}&sort=${sort}&limit=3`, () =>
        Promise.all(
          ['low', 'medium', 'high'].map((priority) =>
            // Ends, because ascending orders meet what comes in only while the walk is in the old rows.
            service.post('/api/tasks', { title: 'New', listId, priority, externalId: priority }),
          ),
        ),
      )

      const ids = walked.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids).toEqual(expect.arrayContaining(before.map(({ id }) => id)))
    },
  )

  test('continues when the last task of a page was deleted', async () => {
    const { projectId } = await givenTies(6)
    const first = await service.get(`/api/tasks?projectId=${projectId}&limit=3`)
    await service.delete(`/api/tasks/${first.body.data[2].id}`)

    const second = await service.get(
      `/api/tasks?projectId=${projectId}&limit=3&cursor=${first.body.nextCursor}`,
    )

    expect(second.body.data).toHaveLength(3)
    expect(second.body.nextCursor).toBeNull()
  })

  test('ends without a cursor when the last page is exactly full', async () => {
    const { projectId } = await givenTies(4)

    const page = await service.get(`/api/tasks?projectId=${projectId}&limit=4`)

    expect(page.body.data).toHaveLength(4)
    expect(page.body.nextCursor).toBeNull()
  })

  test('reaches the last of a thousand tasks', async () => {
    const { inbox, id: projectId } = await service.given.project()
    const batch = Array.from({ length: 100 }, (_, n) => ({ title: `Task ${n}` }))
    for (let n = 0; n < 10; n++) await service.post('/api/tasks/bulk', { listId: inbox.id, tasks: batch })

    for (const sort of SORTS) {
      const walked = await walk(`projectId=${projectId}&sort=${sort}&limit=90&fields=summary`)
      expect(new Set(walked.map(({ id }) => id)).size).toBe(1000)
    }
  })
})

describe('a cursor', () => {
  test('of one sort is rejected by every other', async () => {
    const { projectId } = await givenTies(3)

    for (const sort of SORTS) {
      const { nextCursor } = (await service.get(`/api/tasks?projectId=${projectId}&sort=${sort}&limit=1`))
        .body
      for (const other of SORTS) {
        const { status, body } = await service.get(`/api/tasks?sort=${other}&cursor=${nextCursor}`)
        expect([sort, other, status, body.code]).toEqual(
          sort === other ? [sort, other, 200, undefined] : [sort, other, 400, 'invalid_cursor'],
        )
      }
    }
  })

  test('allows other filters and another page size', async () => {
    const { projectId } = await givenTies(6)
    const { nextCursor } = (await service.get(`/api/tasks?projectId=${projectId}&limit=2`)).body

    const rest = await service.get(`/api/tasks?projectId=${projectId}&priority=low&cursor=${nextCursor}`)

    expect(rest.status).toBe(200)
  })

  const id = '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  test.each([
    ['plain text', '-createdAt', 'first'],
    ['a number', '-createdAt', '1'],
    ['no JSON', '-createdAt', Buffer.from('[').toString('base64url')],
    ['not UTF-8', '-createdAt', Buffer.from([0xff, 0xfe]).toString('base64url')],
    ['null', '-createdAt', forged(null)],
    ['an object', '-createdAt', forged({ length: 3 })],
    ['too few parts', '-createdAt', forged(['-createdAt', null])],
    ['too many parts', '-createdAt', forged(['-createdAt', null, id, 1])],
    ['no UUID', '-createdAt', forged(['-createdAt', null, 'x'])],
    ['an array for an id', '-createdAt', forged(['-createdAt', null, [id]])],
    ['a key where none belongs', '-createdAt', forged(['-createdAt', 1, id])],
    ['no key where one belongs', '-updatedAt', forged(['-updatedAt', null, id])],
    ['a time that is none', '-updatedAt', forged(['-updatedAt', 'now', id])],
    ['a time PostgreSQL reads otherwise', '-updatedAt', forged(['-updatedAt', 'infinity', id])],
    ['a day that is none', '-updatedAt', forged(['-updatedAt', '2026-02-30T00:00:00.000Z', id])],
    ['an offset no place has', '-updatedAt', forged(['-updatedAt', '2026-01-01T00:00:00.000+23:59', id])],
    ['a fraction of a rank', '-priority', forged(['-priority', 1.5, id])],
    ['a rank beyond any', '-priority', forged(['-priority', 40_000, id])],
    ['a rank as text', '-priority', forged(['-priority', '2', id])],
    ['a deep nest', '-priority', Buffer.from('['.repeat(700)).toString('base64url')],
    ['a NUL', '-createdAt', forged(['-createdAt', null, `${id}\0`])],
  ])('that was made up is rejected by name: %s', async (_, sort, cursor) => {
    const refused = await service.get(`/api/tasks?sort=${sort}&cursor=${cursor}`)

    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({
      code: 'invalid_cursor',
      errors: [{ path: 'query.cursor', code: 'invalid_cursor' }],
    })
  })
})
