import { expect, test } from 'vitest'
import { Problem } from '../../../src/dashboard/api/problem.ts'
import {
  contentKey,
  type ImportProgress,
  NOT_BEGUN,
  sendRows,
} from '../../../src/dashboard/transfer/csv-send.ts'
import { mapRows } from '../../../src/dashboard/transfer/csv-tasks.ts'

const rowsOf = (count: number) =>
  mapRows(
    { rows: Array.from({ length: count }, (_, nth) => ({ number: nth + 2, cells: [`Task ${nth}`] })) },
    ['title'],
  )

/** A service; `send` fails with these problems first. */
function service(...problems: Problem[]) {
  const sent: { key: string; titles: string[] }[] = []
  const waits: number[] = []
  let replays = 0
  return {
    sent,
    waits,
    importKey: 'k',
    isStopped: () => false,
    onProgress: (_: ImportProgress) => {},
    /** The responses to the first requests are replays. */
    replay(requests: number) {
      replays = requests
    },
    wait: async ({ status }: Problem) => void waits.push(status),
    async send(tasks: { title: string }[], key: string) {
      sent.push({ key, titles: tasks.map(({ title }) => title) })
      const problem = problems.shift()
      if (problem) throw problem
      const results = tasks.map((_, index) => ({ index, status: 'created' as const }))
      const counts = { created: tasks.length, existing: 0, updated: 0, failed: 0 }
      return { results: { results, ...counts }, isReplay: sent.length <= replays }
    },
  }
}

test('rows are sent in batches of 100, each with a key of its own', async () => {
  const io = service()
  const end = await sendRows({ rows: rowsOf(250), from: NOT_BEGUN, ...io })
  expect(end).toMatchObject({ done: 250, created: 250, failures: [] })
  expect(io.sent.map(({ key, titles }) => [key, titles.length])).toEqual([
    ['csv-k-0', 100],
    ['csv-k-100', 100],
    ['csv-k-200', 50],
  ])
})

test('a batch is sent again with the same key after a rate limit and a lost response', async () => {
  const io = service(new Problem(429, {}), new Problem(503, {}), new Problem(0, {}))
  const end = await sendRows({ rows: rowsOf(1), from: NOT_BEGUN, ...io })
  expect(end).toMatchObject({ done: 1, created: 1 })
  expect(io.sent.map(({ key }) => key)).toEqual(Array(4).fill('csv-k-0'))
  expect(io.waits).toEqual([429, 503, 0])
})

test('an import that stopped goes on where it was', async () => {
  const io = service()
  let batches = 0
  const stopped = await sendRows({
    rows: rowsOf(250),
    from: NOT_BEGUN,
    ...io,
    isStopped: () => batches++ > 0,
  })
  expect(stopped).toMatchObject({ done: 100, created: 100 })
  expect(await sendRows({ rows: rowsOf(250), from: stopped, ...io })).toMatchObject({
    done: 250,
    created: 250,
  })
  expect(io.sent.map(({ key }) => key)).toEqual(['csv-k-0', 'csv-k-100', 'csv-k-200'])
})

test('an import stops at a problem that a retry does not solve, and keeps what it has done', async () => {
  const io = service(...[403, 0, 0, 0].map((status) => new Problem(status, { code: 'x' })))
  const refused = await sendRows({ rows: rowsOf(150), from: { ...NOT_BEGUN }, ...io })
  expect(refused).toMatchObject({ done: 0, problem: { status: 403 } })
  const away = await sendRows({ rows: rowsOf(150), from: refused, ...io })
  expect(away).toMatchObject({ done: 0, problem: { status: 0 } })
  expect(await sendRows({ rows: rowsOf(150), from: away, ...io })).toEqual({
    ...NOT_BEGUN,
    done: 150,
    created: 150,
  })
})

test('rows that failed are kept with their errors', async () => {
  const io = service()
  const send = async (tasks: unknown[]) => ({
    isReplay: false,
    results: {
      results: tasks.map((_, index) => ({
        index,
        status: 'failed' as const,
        errors: [{ path: `/tasks/${index}/title`, code: 'required', message: 'is required' }],
      })),
      ...{ created: 0, existing: 0, updated: 0, failed: tasks.length },
    },
  })
  const end = await sendRows({ rows: rowsOf(2), from: NOT_BEGUN, ...io, send })
  expect(end.failures.map(({ row, message }) => [row.number, message])).toEqual([
    [2, 'title is required'],
    [3, 'title is required'],
  ])
})

test('rows that an earlier import sent are not counted as created', async () => {
  const io = service()
  io.replay(1)
  const end = await sendRows({ rows: rowsOf(150), from: NOT_BEGUN, ...io })
  expect(end).toEqual({ ...NOT_BEGUN, done: 150, created: 50, replayed: 100 })
})

test('a response that this import lost is counted as created when it is replayed', async () => {
  const retried = service(new Problem(0, {}))
  retried.replay(2)
  const end = await sendRows({ rows: rowsOf(1), from: NOT_BEGUN, ...retried })
  expect(end).toMatchObject({ created: 1, replayed: 0 })

  const resumed = service()
  resumed.replay(1)
  const from = { ...NOT_BEGUN, problem: new Problem(0, {}) }
  expect(await sendRows({ rows: rowsOf(1), from, ...resumed })).toMatchObject({ created: 1, replayed: 0 })
})

test('other content has another key', () => {
  expect(contentKey('a')).toBe(contentKey('a'))
  expect(new Set(['', 'a', 'b', 'ab', 'ba'].map(contentKey)).size).toBe(5)
})
