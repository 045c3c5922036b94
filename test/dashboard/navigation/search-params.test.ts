import { describe, expect, test } from 'vitest'
import { formatSearch, parseSearch } from '../../../src/dashboard/navigation/search-params.ts'

describe('search parameters', () => {
  test('are the same after they were formatted and parsed', () => {
    const search = { q: 'crash on export & import', status: ['open' as const], label: ['a,b', '"c"', '7'] }
    expect(parseSearch(formatSearch(search))).toEqual(search)
  })

  test.for(['42', 'true', 'null', '["high"]', '"quoted"', ' ', ''])('keep the text %j', (q) => {
    expect(parseSearch(formatSearch({ q }))).toEqual({ q })
  })

  test('are JSON where they read as JSON, and lists where they are repeated', () => {
    expect(parseSearch('?priority=["high"]&q=c++&label=one&label=two')).toEqual({
      priority: ['high'],
      q: 'c  ',
      label: ['one', 'two'],
    })
  })

  test('leave out undefined values', () => {
    expect(formatSearch({ q: undefined, sort: 'createdAt' })).toBe('?sort=createdAt')
    expect(formatSearch({ q: undefined })).toBe('')
  })
})
