import { describe, expect, test } from 'vitest'
import type { TaskFilters } from '../../../src/dashboard/api/queries.ts'
import { formatSearch, parseSearch } from '../../../src/dashboard/navigation/search-params.ts'
import {
  canLeave,
  filtersFrom,
  isDefaultView,
  isFiltered,
  NOT_DONE,
  searchOf,
  validFilters,
} from '../../../src/dashboard/tasks/filters.ts'

const ID = '0192f0c0-0000-7000-8000-000000000001'

describe('the filters in an address', () => {
  test('are read from its search parameters', () => {
    const search = {
      projectId: ID,
      listId: ID,
      status: ['open', 'done'],
      source: ['api'],
      priority: ['high'],
      label: ['bug'],
      assignee: ['ada', 'none'],
      kind: 'issue',
      externalId: ['x-1'],
      codehostIssueNumber: 12,
      codehostPrNumber: 13,
      createdSince: '2026-01-01T00:00:00.000Z',
      openedSince: '2026-01-01T00:00:00Z',
      updatedSince: '2026-01-01T00:00:00.000Z',
      isReady: false,
      claimed: true,
      includeArchived: true,
      q: 'crash',
      sort: '-priority',
    }
    expect(validFilters(search)).toEqual({ ...search, sort: '-priority' })
  })

  test.each<[Record<string, unknown>, string]>([
    [{ status: 'constructor', sort: 'toString' }, 'names of object properties'],
    [{ status: ['closed', 1, null], priority: 'urgent', source: {} }, 'unknown values'],
    [
      { codehostIssueNumber: 0, codehostPrNumber: 2 ** 31, createdSince: 'today', kind: 'pr' },
      'invalid values',
    ],
    [
      { includeArchived: false, isReady: 'yes', codehostIssueNumber: '12', assignee: [] },
      'values of another type',
    ],
    [{ projectId: '1', listId: `${ID}0` }, 'invalid ids'],
    [{ label: ['', 1], q: '', sort: [] }, 'empty values'],
    [{ q: { text: 'crash' }, label: null }, 'objects'],
    [{ page: 2, utm_source: 'mail' }, 'unknown parameters'],
  ])('ignore %j: %s', (search, _) => {
    expect(Object.keys(validFilters(search))).toEqual([])
  })

  test('keep valid values next to invalid ones', () => {
    expect(validFilters({ status: ['closed', 'open'], label: ['', 'bug'] })).toEqual({
      status: ['open'],
      label: ['bug'],
    })
  })

  test('accept a single value as a list of one', () => {
    expect(validFilters({ status: 'open', label: 'bug', sort: ['createdAt', 'updatedAt'] })).toEqual({
      status: ['open'],
      label: ['bug'],
      sort: 'createdAt',
    })
  })

  test('accept a number as search text, including 0', () => {
    expect([validFilters({ q: 404 }).q, validFilters({ q: 0 }).q]).toEqual(['404', '0'])
  })

  test("truncate the search text to the API's limit", () => {
    expect(validFilters({ q: 'x'.repeat(500) }).q).toHaveLength(200)
  })
})

describe('a list', () => {
  test.each([
    { status: ['open'] },
    { source: ['api'] },
    { priority: ['low'] },
    { assignee: ['ada'] },
    { includeArchived: true },
    { isReady: false },
    { claimed: true },
    { label: ['bug'] },
    { q: 'crash' },
  ])('is filtered by %j', (search) => expect(isFiltered(validFilters(search))).toBe(true))

  test('is not filtered by project, list and sort order alone', () => {
    expect(isFiltered(validFilters({ projectId: ID, listId: ID, sort: 'createdAt' }))).toBe(false)
  })
})

describe('an address', () => {
  const NOT_DONE = { status: ['open', 'in_progress'] }

  test.each([{}, { projectId: ID }, { sort: 'createdAt' }, { status: 'closed' }])(
    'without filters, such as %j, shows what is not done',
    (search) => {
      expect(filtersFrom(search)).toEqual({ ...validFilters(search), ...NOT_DONE })
      expect(isDefaultView(filtersFrom(search))).toBe(true)
    },
  )

  test.each([{ status: 'all' }, { q: 'crash' }, { includeArchived: true }, { status: ['done'] }])(
    'with filters, such as %j, shows what it says',
    (search) => {
      expect(filtersFrom(search)).toEqual(validFilters(search))
      expect(isDefaultView(filtersFrom(search))).toBe(false)
    },
  )

  test.each([
    ['', {}],
    ['', { status: ['in_progress', 'open'] }],
    ['?projectId=0192f0c0-0000-7000-8000-000000000001&sort=createdAt', { projectId: ID, sort: 'createdAt' }],
  ])('is %j for what is not done', (expected, filters) => {
    expect(formatSearch(searchOf(validFilters({ ...NOT_DONE, ...filters })))).toBe(expected)
  })

  test.each([
    {},
    { projectId: ID },
    { status: ['open'] },
    { status: ['open', 'in_progress', 'done'] },
    { q: 'crash' },
    { ...NOT_DONE, q: 'crash' },
    { ...NOT_DONE, listId: ID },
  ])('of %j leads back to it', (search) => {
    const filters = validFilters(search)
    expect(filtersFrom(parseSearch(formatSearch(searchOf(filters))))).toEqual(filters)
  })
})

test.each([
  [{}, false],
  [{ sort: '-priority', status: NOT_DONE }, false],
  [{ includeArchived: true }, false],
  [{ status: ['open'] }, true],
  [{ q: 'word' }, true],
  [{ claimed: true }, true],
] satisfies [TaskFilters, boolean][])(
  'a task can leave the list when somebody changes it: %j, %s',
  (filters, expected) => {
    expect(canLeave(filters)).toBe(expected)
  },
)

test('a search is cut by characters: no half of an emoji is sent', () => {
  const text = `${'a'.repeat(199)}😀`
  expect(filtersFrom({ q: `${text}b` }).q).toBe(text)
  expect(encodeURIComponent(filtersFrom({ q: 'half \ud83d' }).q ?? '')).toContain('half')
})
