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
  dropTasks,
  isWithin,
  leaveTasks,
  listsHolding,
  type Page,
  previewChange,
  putInPlace,
  replaceTasks,
} from '../../../src/dashboard/api/task-cache.ts'

const ALL: TaskFilters = {}
const OPEN: TaskFilters = { status: ['open'] }

describe('newer states of tasks', () => {
  test('replace older ones in every list that is shown, each in its place', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('c'), row('b')], [row('a')]])
    show(OPEN, [[row('b')]])
    replaceTasks(cache, [row('b', { title: 'new', version: 2 })])
    expect([titles(ALL), titles(OPEN)]).toEqual([['Task c', 'new', 'Task a'], ['new']])
  })

  test('that arrive late never replace what is newer', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('a', { title: 'newest', version: 3 })]])
    replaceTasks(cache, [row('a', { title: 'late', version: 2 })])
    expect(titles(ALL)).toEqual(['newest'])
  })

  test('leave pages without them untouched, so that nothing draws them again', () => {
    const { cache, show, pages } = given()
    show(ALL, [[row('c')], [row('a')]])
    const [first, second] = pages(ALL)
    replaceTasks(cache, [row('a', { version: 2 })])
    expect(pages(ALL)[0]).toBe(first)
    expect(pages(ALL)[1]).not.toBe(second)
  })

  test('leave lists that nobody looks at as they are', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('a')]])()
    replaceTasks(cache, [row('a', { title: 'new', version: 2 })])
    expect(titles(ALL)).toEqual(['Task a'])
  })

  test('open in the panel only where they are whole', () => {
    const { cache } = given()
    replaceTasks(cache, [row('a'), whole('b')])
    expect(cache.getQueryData(['task', 'a'])).toBeUndefined()
    expect(cache.getQueryData(['task', 'b'])).toEqual(whole('b'))
  })
})

describe('the preview of a change', () => {
  test('is shown in lists and in the panel until it is taken back', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('b'), row('a')]])
    cache.setQueryData(['task', 'a'], whole('a'))
    const takeBack = previewChange(cache, ['a'], () => ({ title: 'preview' }))
    expect(titles(ALL)).toEqual(['Task b', 'preview'])
    expect(cache.getQueryData<Task>(['task', 'a'])?.title).toBe('preview')
    takeBack()
    expect(titles(ALL)).toEqual(['Task b', 'Task a'])
    expect(cache.getQueryData(['task', 'a'])).toEqual(whole('a'))
  })

  test('is each row its own', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('c'), row('b'), row('a')]])
    previewChange(cache, ['a', 'c'], ({ title }) => ({ title: `${title}!` }))
    expect(titles(ALL)).toEqual(['Task c!', 'Task b', 'Task a!'])
  })

  test('taken back does not bring back a row that went meanwhile', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('b'), row('a')]])
    const takeBack = previewChange(cache, ['a'], () => ({ title: 'preview' }))
    dropTasks(cache, ['a'])
    takeBack()
    expect(titles(ALL)).toEqual(['Task b'])
  })
})

describe('a task that is gone', () => {
  test('leaves every list that is shown, and an empty page behind', () => {
    const { cache, show, pages, titles } = given()
    show(ALL, [[row('b')], [row('a')]])
    show(OPEN, [[row('b'), row('a')]])
    dropTasks(cache, ['a'])
    expect(pages(ALL).map(({ data }) => data.length)).toEqual([1, 0])
    expect(titles(OPEN)).toEqual(['Task b'])
  })

  test('was in the lists that hold it', () => {
    const { cache, show } = given()
    show(ALL, [[row('b')], [row('a')]])
    show(OPEN, [[row('b')]])
    expect(listsHolding(cache, ['a', 'b', 'x'])).toEqual(
      new Map([
        ['a', [ALL]],
        ['b', [ALL, OPEN]],
        ['x', []],
      ]),
    )
  })

  test('comes back to where it was', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('d'), row('c')], [row('a')]])
    putInPlace(cache, ALL, [row('b')])
    expect(titles(ALL)).toEqual(['Task d', 'Task c', 'Task b', 'Task a'])
  })
})

describe('the place of a task', () => {
  const old = '2026-01-01T00:00:00.000Z'
  const recent = '2026-02-01T00:00:00.000Z'

  test.each<[NonNullable<TaskFilters['sort']>, TaskListItem[], TaskListItem, string[]]>([
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
  ])('is where the service sorts it by %s', (sort, rows, task, ids) => {
    const { cache, show, pages } = given()
    show({ sort }, [rows])
    putInPlace(cache, { sort }, [task])
    expect(itemsOf({ pages: pages({ sort }) }).map(({ id }) => id)).toEqual(ids)
  })

  test('is unknown beyond what is loaded, and the end of a list that is whole', () => {
    const { cache, show, titles, pages } = given()
    show(ALL, [[row('c')]], 'more')
    expect(isWithin(pages(ALL), ALL, row('a'))).toBe(false)
    putInPlace(cache, ALL, [row('a')])
    expect(titles(ALL)).toEqual(['Task c'])
    show(OPEN, [[row('c')]])
    putInPlace(cache, OPEN, [row('a')])
    expect(titles(OPEN)).toEqual(['Task c', 'Task a'])
  })

  test('is not taken twice', () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('b', { title: 'shown' })]])
    putInPlace(cache, ALL, [row('b'), row('a')])
    expect(titles(ALL)).toEqual(['shown', 'Task a'])
  })
})

describe('a list that nobody looks at any more', () => {
  test('keeps its first page and is asked for again by whoever comes back', async () => {
    const { cache, show, titles } = given()
    show(ALL, [[row('c')], [row('b')], [row('a')]])()
    await leaveTasks(cache, ALL)
    expect(titles(ALL)).toEqual(['Task c'])
    expect(cache.getQueryState(['tasks', ALL])?.isInvalidated).toBe(true)
  })

  test('stays whole when it is shown again at once', async () => {
    const { cache, show, titles } = given()
    const pages = [[row('c')], [row('b')]]
    show(ALL, pages)()
    const left = leaveTasks(cache, ALL)
    show(ALL, pages)
    await left
    expect(titles(ALL)).toEqual(['Task c', 'Task b'])
    expect(cache.getQueryState(['tasks', ALL])?.isInvalidated).toBe(false)
  })
})

function given() {
  const cache = new QueryClient()
  const pages = (filters: TaskFilters) =>
    cache.getQueryData<{ pages: Page[] }>(['tasks', filters])?.pages ?? []
  return {
    cache,
    pages,
    titles: (filters: TaskFilters) => itemsOf({ pages: pages(filters) }).map(({ title }) => title),
    /** Shows a list, and returns how to leave it. */
    show(filters: TaskFilters, rows: TaskListItem[][], nextCursor: string | null = null) {
      const query = tasksQuery(filters)
      cache.setQueryData(query.queryKey, {
        pages: rows.map((data, index) => ({
          data,
          nextCursor: index < rows.length - 1 ? 'next' : nextCursor,
        })),
        pageParams: rows.map(() => ''),
      })
      return new InfiniteQueryObserver(cache, query).subscribe(() => {})
    },
  }
}

function row(id: string, fields: Partial<TaskListItem> = {}): TaskListItem {
  return { id, title: `Task ${id}`, version: 1, priority: 'medium', ...fields } as TaskListItem
}

function whole(id: string): Task {
  return { ...row(id), metadata: {} } as Task
}
