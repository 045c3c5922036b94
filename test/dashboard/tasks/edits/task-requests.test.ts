import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const SINCE = '2026-01-01T00:00:00.000Z'
let requests: string[] = []
let pageLength: number

beforeEach(() => {
  requests = []
  pageLength = 200
  vi.resetModules()
  vi.stubGlobal('location', new URL('http://inlet.test/tasks'))
  vi.stubGlobal('fetch', async ({ url }: Request) => {
    const { pathname, searchParams } = new URL(url)
    requests.push(pathname)
    const id = pathname.split('/')[3]
    if (id === 'gone') return Response.json({ code: 'task_not_found' }, { status: 404 })
    if (id) return Response.json({ id, version: 1_200 })
    // What 1,200 changes of other tasks fill.
    const page = Number(searchParams.get('cursor') ?? 0)
    const data = Array.from({ length: pageLength }, (_, index) => ({ id: `other ${page} ${index}` }))
    return Response.json({ data, nextCursor: (page + 1) * pageLength < 1_200 ? `${page + 1}` : null })
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

test('two tasks are read by themselves, however many others have changed', async () => {
  const { readChanged } = await import('../../../../src/dashboard/tasks/edits/task-requests.ts')
  const tasks = await readChanged(['a', 'gone'], SINCE)
  expect([...tasks.keys()]).toEqual(['a'])
  expect(requests).toEqual(['/api/tasks/a', '/api/tasks/gone'])
})

test('many tasks are read with what has changed', async () => {
  const { readChanged } = await import('../../../../src/dashboard/tasks/edits/task-requests.ts')
  await readChanged(
    Array.from({ length: 50 }, (_, index) => `${index}`),
    SINCE,
  )
  expect(requests).toEqual(Array(6).fill('/api/tasks'))
})

test('and all of them, though pages of long tasks are short', async () => {
  pageLength = 40
  const { readChanged } = await import('../../../../src/dashboard/tasks/edits/task-requests.ts')
  const tasks = await readChanged(
    Array.from({ length: 50 }, (_, index) => `${index}`),
    SINCE,
  )
  expect(tasks.size).toBe(1_200)
})
