import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { describe, expect, test } from 'vitest'
import {
  dropTasks,
  insertTasks,
  isInLoadedRange,
  listsContaining,
} from '../../../src/dashboard/api/list-positions.ts'
import {
  type TaskFilters,
  type TaskIdPage,
  type TaskListItem,
  tasksQuery,
} from '../../../src/dashboard/api/queries.ts'
import { rowsIn, trimList } from '../../../src/dashboard/api/task-cache.ts'
import { recordsOf } from '../../../src/dashboard/api/task-records.ts'

const ALL: TaskFilters = {}
const OPEN: TaskFilters = { status: ['open'] }

describe('a deleted task', () => {
  test('is in no list', () => {
    const { records, show, titles } = given()
    show(ALL, { rows: [[row('b')], [row('a')]] })
    show(OPEN, { rows: [[row('b'), row('a')]] })
    records.removal()(['a'])
    expect([titles(ALL), titles(OPEN)]).toEqual([['Task b'], ['Task b']])
  })

  test('stays deleted when a list arrives that was requested before', () => {
    const { records, show, titles } = given()
    const receive = records.request()
    records.removal()(['a'])
    receive([row('a')])
    show(ALL, { rows: [[]] })
    expect(titles(ALL)).toEqual([])
  })

  test('is shown again when it is restored', () => {
    const { records, show, titles } = given()
    show(ALL, { rows: [[row('a')]] })
    records.removal()(['a'])
    records.request()([row('a', { version: 2 })])
    expect(titles(ALL)).toEqual(['Task a'])
  })

  test('is found in the lists that contain it', () => {
    const { queryClient, show } = given()
    show(ALL, { rows: [[row('b')], [row('a')]] })
    show(OPEN, { rows: [[row('b')]] })
    expect(listsContaining(queryClient, ['a', 'b', 'x'])).toEqual(
      new Map([
        ['a', [ALL]],
        ['b', [ALL, OPEN]],
        ['x', []],
      ]),
    )
  })

  test('is inserted at its old position', () => {
    const { queryClient, records, show, titles } = given()
    show(ALL, { rows: [[row('d'), row('c')], [row('a')]] })
    records.request()([row('b')])
    insertTasks(queryClient, { filters: ALL, ids: ['b'] })
    expect(titles(ALL)).toEqual(['Task d', 'Task c', 'Task b', 'Task a'])
  })
})

describe('the position of a task', () => {
  const old = '2026-01-01T00:00:00.000Z'
  const recent = '2026-02-01T00:00:00.000Z'

  test.each<[NonNullable<TaskFilters['sort']>, TaskListItem[], TaskListItem, string[]]>([
    ['-openedAt', [row('a', { openedAt: recent })], row('b', { openedAt: old }), ['a', 'b']],
    ['openedAt', [row('a', { openedAt: recent })], row('b', { openedAt: old }), ['b', 'a']],
    ['-createdAt', [row('c'), row('a')], row('b'), ['c', 'b', 'a']],
    ['createdAt', [row('a'), row('c')], row('b'), ['a', 'b', 'c']],
    ['-updatedAt', [row('a', { updatedAt: recent })], row('b', { updatedAt: old }), ['a', 'b']],
    ['updatedAt', [row('a', { updatedAt: recent })], row('b', { updatedAt: old }), ['b', 'a']],
    [
      '-updatedAt',
      [row('c', { updatedAt: old }), row('a', { updatedAt: old })],
      row('b', { updatedAt: old }),
      ['c', 'b', 'a'],
    ],
    [
      '-priority',
      [row('a', { priority: 'high' }), row('c', { priority: 'low' })],
      row('b', { priority: 'medium' }),
      ['a', 'b', 'c'],
    ],
    [
      '-priority',
      [row('c', { priority: 'low' }), row('a', { priority: 'low' })],
      row('b', { priority: 'low' }),
      ['c', 'b', 'a'],
    ],
    [
      '-reports',
      [row('a', { reports: 9 }), row('c', { reports: 1 })],
      row('b', { reports: 5 }),
      ['a', 'b', 'c'],
    ],
  ])('follows the sort order of the service: %s', (sort, rows, task, ids) => {
    const { queryClient, records, show, pages } = given()
    show({ sort }, { rows: [rows] })
    records.request()([task])
    insertTasks(queryClient, { filters: { sort }, ids: [task.id] })
    expect(pages({ sort })[0]?.ids).toEqual(ids)
  })

  test('is unknown beyond the loaded pages and the end of a fully loaded list', () => {
    const { queryClient, records, show, titles, pages } = given()
    records.request()([row('a')])
    show(ALL, { rows: [[row('c')]], nextCursor: 'more' })
    expect(isInLoadedRange(row('a'), { records, pages: pages(ALL), filters: ALL })).toBe(false)
    insertTasks(queryClient, { filters: ALL, ids: ['a'] })
    expect(titles(ALL)).toEqual(['Task c'])
    show(OPEN, { rows: [[row('c')]] })
    insertTasks(queryClient, { filters: OPEN, ids: ['a'] })
    expect(titles(OPEN)).toEqual(['Task c', 'Task a'])
  })

  test('is not used twice', () => {
    const { queryClient, records, show, titles } = given()
    show(ALL, { rows: [[row('b')]] })
    records.request()([row('a')])
    insertTasks(queryClient, { filters: ALL, ids: ['b', 'a'] })
    expect(titles(ALL)).toEqual(['Task b', 'Task a'])
  })

  test('that changed while pages were loaded is the first: three rows change, three pages have 300 tasks', () => {
    const { show, titles } = given()
    const page = (from: number) => Array.from({ length: 100 }, (_, index) => row(`${from + index}`))
    const moved = [row('1'), row('50'), row('99')]
    const pages = [page(0), page(100), page(200)]
    show({ sort: '-priority' }, { rows: [...pages.slice(0, 2), [...moved, ...(pages[2] ?? [])]] })
    expect(titles({ sort: '-priority' })).toEqual(pages.flat().map(({ title }) => title))
  })
})

describe('an inactive list', () => {
  test('keeps its first page and is refetched on return', async () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('c')], [row('b')], [row('a')]] })()
    await trimList(queryClient, ALL)
    expect(titles(ALL)).toEqual(['Task c'])
    expect(queryClient.getQueryState(['tasks', ALL])?.isInvalidated).toBe(true)
  })

  test('keeps all pages when it is mounted again at once', async () => {
    const { queryClient, show, titles } = given()
    const pages = [[row('c')], [row('b')]]
    show(ALL, { rows: pages })()
    const trimming = trimList(queryClient, ALL)
    show(ALL, { rows: pages })
    await trimming
    expect(titles(ALL)).toEqual(['Task c', 'Task b'])
    expect(queryClient.getQueryState(['tasks', ALL])?.isInvalidated).toBe(false)
  })
})

test('a task that matches no longer leaves one list, and its page stays', () => {
  const { queryClient, show, pages, titles } = given()
  show(ALL, { rows: [[row('b')], [row('a')]] })
  show(OPEN, { rows: [[row('b')], [row('a')]] })
  dropTasks(queryClient, { filters: OPEN, ids: ['a'] })
  expect(pages(OPEN).map(({ ids }) => ids)).toEqual([['b'], []])
  expect(titles(ALL)).toEqual(['Task b', 'Task a'])
})

test('records that no list has are forgotten when a list is left', async () => {
  const { queryClient, records, show } = given()
  show(ALL, { rows: [[row('c')], [row('b')]] })()
  await trimList(queryClient, ALL)
  expect([records.row('c')?.id, records.row('b')]).toEqual(['c', undefined])
})

interface ShownList {
  rows: TaskListItem[][]
  nextCursor?: string | null
}

function given() {
  const queryClient = new QueryClient()
  const records = recordsOf(queryClient)
  const pages = (filters: TaskFilters) =>
    queryClient.getQueryData<{ pages: TaskIdPage[] }>(['tasks', filters])?.pages ?? []
  return {
    queryClient,
    records,
    pages,
    titles: (filters: TaskFilters) => rowsIn(records, pages(filters)).map(({ title }) => title),
    /** Shows a list, and returns how to leave it. */
    show(filters: TaskFilters, { rows, nextCursor = null }: ShownList) {
      const query = tasksQuery(filters)
      records.request()(rows.flat())
      queryClient.setQueryData(query.queryKey, {
        pages: rows.map((data, index) => ({
          ids: data.map(({ id }) => id),
          nextCursor: index < rows.length - 1 ? 'next' : nextCursor,
        })),
        pageParams: rows.map(() => ''),
      })
      return new InfiniteQueryObserver(queryClient, query).subscribe(() => {})
    },
  }
}

function row(id: string, fields: Partial<TaskListItem> = {}): TaskListItem {
  return { id, title: `Task ${id}`, version: 1, priority: 'medium', ...fields } as TaskListItem
}
