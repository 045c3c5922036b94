import { QueryClient } from '@tanstack/react-query'
import { describe, expect, test, vi } from 'vitest'
import type { Task, TaskListItem } from '../../../src/dashboard/api/queries.ts'
import { recordsOf } from '../../../src/dashboard/api/task-records.ts'

const BEFORE = '2026-01-01T00:00:00.000Z'
const AT = '2026-02-01T00:00:00.000Z'
const AFTER = '2026-03-01T00:00:00.000Z'

describe('a task', () => {
  test('is replaced by the same version and by newer ones', () => {
    const records = given(row({ title: 'first', isReady: false }))
    records.request()([row({ title: 'first', isReady: true })])
    expect(records.row('a')?.isReady).toBe(true)
    records.request()([row({ title: 'second', version: 2 })])
    expect(records.row('a')?.title).toBe('second')
  })

  test('is not replaced by an older version that arrives late', () => {
    const records = given(row({ title: 'newest', version: 3 }))
    records.request()([full({ title: 'late', version: 2 })])
    expect(records.row('a')?.title).toBe('newest')
  })

  test('is not replaced by the same version that was requested earlier', () => {
    const records = given(row({ isReady: false }))
    const late = records.request()
    records.request()([row({ isReady: true })])
    late([row({ isReady: false })])
    expect(records.row('a')?.isReady).toBe(true)
  })

  test('keeps its long texts with their version when only its row is newer', () => {
    const records = given(full({ description: 'text' }))
    records.request()([row({ title: 'renamed', version: 2 })])
    expect(records.row('a')).toMatchObject({ title: 'renamed', version: 2 })
    expect(records.full('a')).toMatchObject({ title: 'renamed', description: 'text', version: 1 })
  })

  test('has in full what changed without a version', () => {
    const records = given(full({ commentCount: 1 }))
    records.request()([row({ commentCount: 2 })])
    expect(records.full('a')).toMatchObject({ commentCount: 2, metadata: {} })
  })

  test('is the same object until it changes', () => {
    const records = given(full())
    const before = [records.row('a'), records.full('a')]
    records.request()([row({ id: 'b' })])
    expect(records.row('a')).toBe(before[0])
    expect(records.full('a')).toBe(before[1])
  })
})

describe('a change that is being saved', () => {
  test('is shown until it ends, in lists and in full', () => {
    const records = given(full())
    const end = rename(records, 'preview')
    expect([records.row('a')?.title, records.full('a')?.title]).toEqual(['preview', 'preview'])
    end()
    expect([records.row('a')?.title, records.full('a')?.title]).toEqual(['Task a', 'Task a'])
  })

  test('stays when something else of the task is learned', () => {
    const records = given(full())
    rename(records, 'preview')
    records.report({ id: 'a', changedAt: AFTER, change: { priority: 'high' } })
    records.request()([row({ version: 2, updatedAt: AFTER, priority: 'high' })])
    expect(records.row('a')).toMatchObject({ title: 'preview', priority: 'high' })
  })

  test('takes back only itself when it fails after a change by others', () => {
    const records = given(full())
    const end = records.preview({ ids: new Set(['a']), changeOf: () => ({ status: 'done' }) })
    records.request()([full({ title: 'by others', version: 2 })])
    end()
    expect(records.row('a')).toMatchObject({ title: 'by others', status: 'open' })
    expect(records.full('a')).toMatchObject({ title: 'by others', status: 'open' })
  })

  test('is followed by the next one, and ends alone', () => {
    const records = given(row())
    const endFirst = rename(records, 'first')
    const endSecond = rename(records, 'second')
    endFirst()
    expect(records.row('a')?.title).toBe('second')
    endSecond()
    expect(records.row('a')?.title).toBe('Task a')
  })

  test('is computed on what is known by now', () => {
    const records = given(row({ labels: ['one'] }))
    records.preview({ ids: new Set(['a']), changeOf: ({ labels }) => ({ labels: [...labels, 'mine'] }) })
    records.request()([row({ labels: ['one', 'two'], version: 2 })])
    expect(records.row('a')?.labels).toEqual(['one', 'two', 'mine'])
  })
})

describe('a reported change', () => {
  const renamed = { id: 'a', changedAt: AT, change: { title: 'reported' } }

  test('is shown unless the task is newer', () => {
    const records = given(row({ updatedAt: BEFORE }))
    records.report(renamed)
    expect(records.row('a')?.title).toBe('reported')
    const newer = given(row({ updatedAt: AT }))
    newer.report(renamed)
    expect(newer.row('a')?.title).toBe('Task a')
  })

  test('is not reverted by the response of a request that began before', () => {
    const records = given(row({ updatedAt: BEFORE }))
    const receive = records.request()
    records.report(renamed)
    receive([row({ updatedAt: BEFORE })])
    expect(records.row('a')?.title).toBe('reported')
    records.request()([row({ title: 'later', version: 3, updatedAt: AFTER })])
    expect(records.row('a')?.title).toBe('later')
  })

  test('ends with the response of a request that began after', () => {
    const records = given(row({ updatedAt: BEFORE }))
    records.report(renamed)
    records.request()([row({ updatedAt: BEFORE })])
    expect(records.row('a')?.title).toBe('Task a')
  })
})

test('those who watch are told of each change, until they leave', () => {
  const records = given(row())
  const watcher = vi.fn()
  const leave = records.subscribe(watcher)
  rename(records, 'x')
  expect(watcher).toHaveBeenCalledTimes(1)
  leave()
  rename(records, 'y')
  expect(watcher).toHaveBeenCalledTimes(1)
})

type Records = ReturnType<typeof recordsOf>

function given(...tasks: (Task | TaskListItem)[]): Records {
  const records = recordsOf(new QueryClient())
  records.request()(tasks)
  return records
}

const rename = (records: Records, title: string) =>
  records.preview({ ids: new Set(['a']), changeOf: () => ({ title }) })

const row = (fields: Partial<Task> = {}) =>
  ({
    id: 'a',
    title: 'Task a',
    status: 'open',
    version: 1,
    updatedAt: BEFORE,
    blockedBy: [],
    ...fields,
  }) as unknown as TaskListItem

const full = (fields: Partial<Task> = {}) => ({ ...row(fields), metadata: {} }) as Task
