import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const SINCE = '2026-01-01T00:00:00.000Z'
const COMMENTS = [
  { taskId: 'mine', actor: { type: 'user', id: 'ada' } },
  { taskId: 'mine by assistant', actor: { type: 'assistant', id: 'ada' } },
  { taskId: 'theirs', actor: { type: 'user', id: 'grace' } },
  { taskId: 'from the host', actor: { type: 'codehost', id: null } },
  { taskId: 'from a program', actor: { type: 'key', id: 'deploy' } },
]
let requests: URL[] = []

beforeEach(() => {
  requests = []
  vi.resetModules()
  vi.stubGlobal('location', new URL('http://inlet.test/triage'))
  vi.stubGlobal('fetch', async ({ url }: Request) => {
    const { searchParams } = new URL(url)
    requests.push(new URL(url))
    const taskId = searchParams.get('taskId')
    const data = COMMENTS.filter((comment) => taskId === null || comment.taskId === taskId)
    // A sync brings more comments than an undo reads.
    const isEndless = searchParams.get('since') !== SINCE
    return Response.json({ data, nextCursor: isEndless ? 'more' : null })
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

async function undoIo() {
  const { undoIoOf } = await import('../../../../src/dashboard/tasks/edits/undo-io.ts')
  const queryClient = new QueryClient()
  queryClient.setQueryData(['me'], { user: { id: 'ada' }, keyId: null, id: 'session' })
  return undoIoOf(queryClient)
}

const tasks = COMMENTS.map(({ taskId }) => taskId)

test('comments decide that others have made, and none that a code host brings', async () => {
  const io = await undoIo()
  const deciding = new Set(['mine by assistant', 'theirs', 'from a program'])
  expect(await io.readCommented(tasks, SINCE)).toEqual(deciding)
  expect(requests.map(({ searchParams }) => searchParams.get('taskId'))).toEqual(tasks)

  requests = []
  expect(await io.readCommented([...tasks, 'quiet', 'silent'], SINCE)).toEqual(deciding)
  expect(requests.map(({ search }) => search)).toEqual([
    `?type=comment.created&since=${encodeURIComponent(SINCE)}&limit=200`,
  ])
})

test('requests stay few, however many comments a sync brings', async () => {
  const io = await undoIo()
  await io.readCommented(['theirs'], '2020-01-01T00:00:00.000Z')
  expect(requests).toHaveLength(1)
  await io.readCommented([...tasks, 'quiet', 'silent'], '2020-01-01T00:00:00.000Z')
  expect(requests.length).toBeLessThanOrEqual(11)
})
