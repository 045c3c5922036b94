import { describe, expect, test } from 'vitest'
import { filtersFrom, isNarrowed } from '../../../src/dashboard/tasks/filters.ts'

const ID = '0192f0c0-0000-7000-8000-000000000001'

describe('the filters of an address', () => {
  test('are all that it says', () => {
    const search = {
      projectId: ID,
      listId: ID,
      status: ['open', 'done'],
      source: ['api'],
      priority: ['high'],
      label: ['bug'],
      q: 'crash',
      sort: '-priority',
    }
    expect(filtersFrom(search)).toEqual({ ...search, sort: '-priority' })
  })

  test.each<[Record<string, unknown>, string]>([
    [{ status: 'constructor', sort: 'toString' }, 'words that every object knows'],
    [{ status: ['closed', 1, null], priority: 'urgent', source: {} }, 'values there are none of'],
    [{ projectId: '1', listId: `${ID}0` }, 'ids that are none'],
    [{ label: ['', 1], q: '', sort: [] }, 'empty values'],
    [{ q: { text: 'crash' }, label: null }, 'objects'],
    [{ page: 2, utm_source: 'mail' }, 'words that are not filters'],
  ])('leave out %j: %s', (search, _) => {
    expect(Object.keys(filtersFrom(search))).toEqual([])
  })

  test('keep what makes sense beside what does not', () => {
    expect(filtersFrom({ status: ['closed', 'open'], label: ['', 'bug'] })).toEqual({
      status: ['open'],
      label: ['bug'],
    })
  })

  test('take one value for a list of one', () => {
    expect(filtersFrom({ status: 'open', label: 'bug', sort: ['createdAt', 'updatedAt'] })).toEqual({
      status: ['open'],
      label: ['bug'],
      sort: 'createdAt',
    })
  })

  test('search for a number as for a word, 0 too', () => {
    expect([filtersFrom({ q: 404 }).q, filtersFrom({ q: 0 }).q]).toEqual(['404', '0'])
  })

  test('search for as much as the service accepts', () => {
    expect(filtersFrom({ q: 'x'.repeat(500) }).q).toHaveLength(200)
  })
})

describe('a list', () => {
  test.each([
    { status: ['open'] },
    { source: ['api'] },
    { priority: ['low'] },
    { label: ['bug'] },
    { q: 'crash' },
  ])('is narrowed by %j', (search) => expect(isNarrowed(filtersFrom(search))).toBe(true))

  test('is not narrowed by where it is and how it is sorted', () => {
    expect(isNarrowed(filtersFrom({ projectId: ID, listId: ID, sort: 'createdAt' }))).toBe(false)
  })
})
