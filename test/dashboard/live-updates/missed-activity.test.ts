import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { given, START } from './shown-list.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START })
  // The client reads the address of the page when it loads.
  vi.stubGlobal('location', new URL('http://inlet.test/tasks'))
  vi.resetModules()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.resetModules()
})

describe('missed activity', () => {
  test('is fetched page by page and returned oldest first', async () => {
    const { service, activitySince } = await given([])
    service.activity = [['5', '4'], ['3', '2'], ['1']]
    const missed = await activitySince(START)
    expect(missed?.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5'])
    expect(service.sinces).toEqual(Array(3).fill(new Date(START - 5_000).toISOString()))
  })

  test.each([
    [5, 5],
    [6, undefined],
  ])('of %d pages is fetched up to five pages', async (pages, length) => {
    const { service, activitySince } = await given([])
    service.activity = Array.from({ length: pages }, (_, index) => [`${index}`])
    expect((await activitySince(START))?.length).toBe(length)
  })

  test('is an error when the service does not respond', async () => {
    const { service, activitySince } = await given([])
    service.isUnavailable = true
    await expect(activitySince(START)).rejects.toMatchObject({ status: 503 })
  })
})
