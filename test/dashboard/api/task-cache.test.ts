import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { describe, expect, test } from 'vitest'
import {
  itemsOf,
  type Task,
  type TaskFilters,
  type TaskListItem,
  tasksQuery,
} from '../../../src/dashboard/api/queries.ts'
import {
  insertTasks,
  isInLoadedRange,
  listsContaining,
  type Page,
  previewChange,
  removeTasks,
  replaceTasks,
  trimList,
} from '../../../src/dashboard/api/task-cache.ts'

const ALL: TaskFilters = {}
const OPEN: TaskFilters = { status: ['open'] }

describe('newer versions of tasks', () => {
  test('replace older ones in place in every active list', () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('c'), row('b')], [row('a')]] })
    show(OPEN, { rows: [[row('b')]] })
    replaceTasks(queryClient, [row('b', { title: 'new', version: 2 })])
    expect([titles(ALL), titles(OPEN)]).toEqual([['Task c', 'new', 'Task a'], ['new']])
  })

  test('are kept when an older version arrives late', () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('a', { title: 'newest', version: 3 })]] })
    replaceTasks(queryClient, [row('a', { title: 'late', version: 2 })])
    expect(titles(ALL)).toEqual(['newest'])
  })

  test('keep the identity of pages without them', () => {
    const { queryClient, show, pages } = given()
    show(ALL, { rows: [[row('c')], [row('a')]] })
    const [first, second] = pages(ALL)
    replaceTasks(queryClient, [row('a', { version: 2 })])
    expect(pages(ALL)[0]).toBe(first)
    expect(pages(ALL)[1]).not.toBe(second)
  })

  test('do not change inactive lists', () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('a')]] })()
    replaceTasks(queryClient, [row('a', { title: 'new', version: 2 })])
    expect(titles(ALL)).toEqual(['Task a'])
  })

  test('update the panel only with full tasks', () => {
    const { queryClient } = given()
    replaceTasks(queryClient, [row('a'), fullTask('b')])
    expect(queryClient.getQueryData(['task', 'a'])).toBeUndefined()
    expect(queryClient.getQueryData(['task', 'b'])).toEqual(fullTask('b'))
  })
})

describe('an optimistic change', () => {
  test('is shown in lists and in the panel until it is reverted', () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('b'), row('a')]] })
    queryClient.setQueryData(['task', 'a'], fullTask('a'))
    const revert = previewChange(queryClient, { ids: ['a'], changeOf: () => ({ title: 'preview' }) })
    expect(titles(ALL)).toEqual(['Task b', 'preview'])
    expect(queryClient.getQueryData<Task>(['task', 'a'])?.title).toBe('preview')
    revert()
    expect(titles(ALL)).toEqual(['Task b', 'Task a'])
    expect(queryClient.getQueryData(['task', 'a'])).toEqual(fullTask('a'))
  })

  test('is computed per row', () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('c'), row('b'), row('a')]] })
    previewChange(queryClient, { ids: ['a', 'c'], changeOf: ({ title }) => ({ title: `${title}!` }) })
    expect(titles(ALL)).toEqual(['Task c!', 'Task b', 'Task a!'])
  })

  test('does not restore removed rows when it is reverted', () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('b'), row('a')]] })
    const revert = previewChange(queryClient, { ids: ['a'], changeOf: () => ({ title: 'preview' }) })
    removeTasks(queryClient, ['a'])
    revert()
    expect(titles(ALL)).toEqual(['Task b'])
  })
})

describe('a deleted task', () => {
  test('is removed from every active list, even if that leaves an empty page', () => {
    const { queryClient, show, pages, titles } = given()
    show(ALL, { rows: [[row('b')], [row('a')]] })
    show(OPEN, { rows: [[row('b'), row('a')]] })
    removeTasks(queryClient, ['a'])
    expect(pages(ALL).map(({ data }) => data.length)).toEqual([1, 0])
    expect(titles(OPEN)).toEqual(['Task b'])
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
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('d'), row('c')], [row('a')]] })
    insertTasks(queryClient, { filters: ALL, tasks: [row('b')] })
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
  ])('follows the sort order of the service: %s', (sort, rows, task, ids) => {
    const { queryClient, show, pages } = given()
    show({ sort }, { rows: [rows] })
    insertTasks(queryClient, { filters: { sort }, tasks: [task] })
    expect(itemsOf({ pages: pages({ sort }) }).map(({ id }) => id)).toEqual(ids)
  })

  test('is unknown beyond the loaded pages and the end of a fully loaded list', () => {
    const { queryClient, show, titles, pages } = given()
    show(ALL, { rows: [[row('c')]], nextCursor: 'more' })
    expect(isInLoadedRange(row('a'), { pages: pages(ALL), filters: ALL })).toBe(false)
    insertTasks(queryClient, { filters: ALL, tasks: [row('a')] })
    expect(titles(ALL)).toEqual(['Task c'])
    show(OPEN, { rows: [[row('c')]] })
    insertTasks(queryClient, { filters: OPEN, tasks: [row('a')] })
    expect(titles(OPEN)).toEqual(['Task c', 'Task a'])
  })

  test('is not used twice', () => {
    const { queryClient, show, titles } = given()
    show(ALL, { rows: [[row('b', { title: 'shown' })]] })
    insertTasks(queryClient, { filters: ALL, tasks: [row('b'), row('a')] })
    expect(titles(ALL)).toEqual(['shown', 'Task a'])
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

interface ShownList {
  rows: TaskListItem[][]
  nextCursor?: string | null
}

function given() {
  const queryClient = new QueryClient()
  const pages = (filters: TaskFilters) =>
    queryClient.getQueryData<{ pages: Page[] }>(['tasks', filters])?.pages ?? []
  return {
    queryClient,
    pages,
    titles: (filters: TaskFilters) => itemsOf({ pages: pages(filters) }).map(({ title }) => title),
    /** Shows a list, and returns how to leave it. */
    show(filters: TaskFilters, { rows, nextCursor = null }: ShownList) {
      const query = tasksQuery(filters)
      queryClient.setQueryData(query.queryKey, {
        pages: rows.map((data, index) => ({
          data,
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

function fullTask(id: string): Task {
  return { ...row(id), metadata: {} } as Task
}
