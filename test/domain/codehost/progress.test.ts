import { describe, expect, test } from 'vitest'
import {
  afterListing,
  afterUpdates,
  isPlausible,
  nextFullAt,
  nextRunAfter,
  nextRunAt,
  type PageRead,
  resumeAt,
  startedAgain,
} from '../../../src/domain/codehost/progress.ts'

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`
const updatesUrl = (since: string) => `updates?since=${since}`

describe('the start of a sync run', () => {
  test('is the beginning when the first run has not finished, or the repository is empty', () => {
    expect(resumeAt(null)).toBeUndefined()
    expect(resumeAt({ since: null, url: 'listing', etag: 'e', next: null })).toBeUndefined()
  })

  test('is the last URL whose response was committed, conditional only if it differs from the previous one', () => {
    const position = { since: at(5), url: 'last', etag: 'e', next: null }
    expect(resumeAt(position)).toEqual({ phase: 'updates', next: 'last', since: at(5), etag: 'e' })
  })

  test('is the next URL when the previous run was interrupted', () => {
    const position = { since: at(5), url: 'last', etag: 'e', next: 'more' }
    expect(resumeAt(position)).toEqual({ phase: 'updates', next: 'more', since: at(5) })
  })
})

test('a run continues with the listing that the one before has not ended', () => {
  const position = { since: at(5), url: 'p1', etag: null, next: 'p2', isListing: true as const }
  expect(resumeAt(position)).toEqual({ phase: 'listing', next: 'p2', since: at(5) })
})

describe.each([1, 2, 3, 7])('a circle of %i pages is found, in at most three rounds', (length) => {
  test('in the listing', () => {
    let checkpoint: ReturnType<typeof afterListing>['checkpoint'] = {
      phase: 'listing',
      next: '0',
      since: null,
    }
    const pages = pagesOf(length)
    while (checkpoint !== 'circle') {
      if (checkpoint?.phase !== 'listing') throw new Error('The listing has ended.')
      checkpoint = afterListing(checkpoint, { page: pages.read(checkpoint.next), updatesUrl }).checkpoint
    }
  })

  test('in the changes of one second', () => {
    let checkpoint: ReturnType<typeof afterUpdates>['checkpoint'] = {
      phase: 'updates',
      next: '0',
      since: at(1),
    }
    const pages = pagesOf(length)
    while (checkpoint !== 'circle') {
      if (checkpoint === undefined) throw new Error('The changes have ended.')
      checkpoint = afterUpdates(checkpoint, { page: pages.read(checkpoint.next), updatesUrl }).checkpoint
    }
  })
})

/** Each links to the next one, and the last to the first. */
function pagesOf(length: number) {
  let count = 0
  return {
    read(url: string): PageRead {
      expect(++count).toBeLessThanOrEqual(3 * length)
      return { url, next: String((Number(url) + 1) % length), etag: null, updatedAt: [at(1)], date: null }
    },
  }
}

test('a list starts again once, and not from its first page', () => {
  const list = { phase: 'listing' as const, next: 'p3', since: at(1) }
  expect(startedAgain(list, 'p1')).toEqual({ ...list, next: 'p1', isRestarted: true })
  expect(startedAgain({ ...list, next: 'p1' }, 'p1')).toBeUndefined()
  expect(startedAgain({ ...list, isRestarted: true }, 'p1')).toBeUndefined()
})

describe('after a page of the listing', () => {
  const page = { url: 'p1', etag: 'e', next: 'p2', updatedAt: [at(30), at(20)], date: null }

  test.each([
    [
      'it follows the link',
      at(40),
      page,
      { phase: 'listing', next: 'p2', since: at(40), trail: { mark: 'p2', steps: 0, maxSteps: 2 } },
    ],
    [
      'at the end it catches up, with overlap',
      at(40),
      { ...page, next: null },
      { phase: 'updates', next: updatesUrl(at(35)), since: at(35) },
    ],
    [
      'that was empty before, with its oldest item',
      null,
      { ...page, next: null },
      { phase: 'updates', next: updatesUrl(at(15)), since: at(15) },
    ],
    [
      'of an empty repository there is nothing to do',
      null,
      { ...page, next: null, updatedAt: [] },
      undefined,
    ],
  ] as const)('%s', (_, since, read, expected) => {
    const checkpoint = { phase: 'listing' as const, next: 'p1', since }
    const after = afterListing(checkpoint, { page: { ...read, updatedAt: [...read.updatedAt] }, updatesUrl })
    expect(after.checkpoint).toEqual(expected)
  })
})

describe('after a page of changes', () => {
  const since = at(10)
  const url = updatesUrl(since)
  test.each([
    ['the end is remembered', {}, { url, next: null, last: at(50) }, undefined, { next: null, since }],
    [
      'the next begins a little before its end',
      {},
      { url, next: 'l', last: at(50) },
      updatesUrl(at(45)),
      { since: at(45) },
    ],
    [
      'where that is no progress, at its last second',
      {},
      { url, next: 'l', last: at(13) },
      updatesUrl(at(13)),
      { since: at(13) },
    ],
    ['of one second only its link leads on', {}, { url, next: 'l', last: at(10) }, 'l', { since, next: url }],
    ['without times too', {}, { url, next: 'l', last: null }, 'l', { since, next: url }],
    [
      'further on that has changed, it begins again',
      { etag: 'e' },
      { url: 'l', next: null, last: at(50) },
      url,
      { since, next: url },
    ],
    [
      'that has changed, no more than usual',
      { etag: 'e' },
      { url, next: null, last: at(50) },
      undefined,
      { next: null },
    ],
  ] as const)('%s', (_, condition, { url, next, last }, expected, position) => {
    const read = { url, next, etag: 'new', updatedAt: [at(10), last], date: null }
    const after = afterUpdates(
      { phase: 'updates', next: url, since, ...condition },
      { page: read, updatesUrl },
    )
    expect(after.checkpoint).toEqual(
      expected === undefined ? undefined : expect.objectContaining({ next: expected }),
    )
    expect(after.position).toMatchObject({ url, etag: 'new', ...position })
  })
})

describe('after a full page without a next link', () => {
  const since = at(10)
  const url = updatesUrl(since)
  const full = (last: number) => ({
    url,
    next: null,
    etag: 'e',
    date: null,
    updatedAt: [...Array.from({ length: 99 }, () => at(10)), at(last)],
  })

  test('the run continues when the next request would not return the same page', () => {
    const { checkpoint } = afterUpdates(
      { phase: 'updates', next: url, since },
      { page: full(50), updatesUrl },
    )
    expect(checkpoint).toMatchObject({ next: updatesUrl(at(45)), since: at(45) })
  })

  test('the next run is unconditional when the whole page has one timestamp', () => {
    const { checkpoint, position } = afterUpdates(
      { phase: 'updates', next: url, since },
      { page: full(10), updatesUrl },
    )
    expect(checkpoint).toBeUndefined()
    expect(position).toEqual({ since, url, etag: null, next: null })
  })
})

test.each([
  [0, 0, true],
  [1, 1, true],
  [3, 1, true],
  [10, 10, true],
  [20, 10, true],
  [11, 11, false],
  [54, 11, false],
  [55, 11, true],
  [100, 21, false],
])('of %i present %i missing: plausible is %s', (present, vanished, expected) => {
  expect(isPlausible({ present, vanished })).toBe(expected)
})

test('the schedule is given in hours: hourly, daily, weekly', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  expect(nextRunAt('off', now)).toBeNull()
  expect(nextRunAt('hourly', now)).toEqual(new Date('2026-01-01T01:00:00Z'))
  expect(nextRunAt('daily', now)).toEqual(new Date('2026-01-02T00:00:00Z'))
  expect(nextFullAt('done', now)).toEqual(new Date('2026-01-08T00:00:00Z'))
  expect(nextFullAt('attempted', now)).toEqual(new Date('2026-01-02T00:00:00Z'))
})

describe('the next scheduled run', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  const at = (time: string | null) => (time === null ? null : new Date(`2026-01-${time}:00Z`))

  test.each([
    ['stays due where it was after a success', null, '01T00:30', '01T00:30'],
    ['comes an interval after a success at the latest', null, '02T00:00', '01T01:00'],
    ['comes as it was due after what may pass', 'codehost_unreachable', '01T01:00', '01T01:00'],
    ['stays when it was, also after a token was rejected', 'codehost_token_rejected', '01T01:00', '01T01:00'],
    ['is none without a schedule, whatever happened', 'codehost_token_rejected', null, null],
    ['is none without a schedule', null, null, null],
  ])('%s', (_, code, due, next) => {
    const error = code === null ? null : { code }
    expect(nextRunAfter({ error, connection: { schedule: 'hourly', nextRunAt: at(due) }, now })).toEqual(
      at(next),
    )
  })
})
