import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Syncing, startSyncing } from '../../support/syncing.ts'

let linking: Syncing
let searching: Syncing
beforeAll(async () => {
  linking = await startSyncing()
  searching = await startSyncing({ tokens: { reader: {}, blind: { repositories: [] } } })
  searching.host.hideLastPage()
})
afterAll(() => Promise.all([linking.close(), searching.close()]))

const searches = (service: Syncing, since: number) =>
  service.asked(since).filter((line) => line.includes('/search/'))

describe('the total of a run', () => {
  test('is the number of the last page, where the host links to it, and takes no request', async () => {
    const { repository, sync } = await linking.connected({}, 230)
    repository.remove(7)
    const since = linking.host.requests.length
    expect(await sync()).toMatchObject({ total: 229, fetched: 229 })
    expect(searches(linking, since)).toEqual([])
    repository.issue()
    expect(await sync('?mode=full')).toMatchObject({ total: 230, fetched: 230 })
  })

  test('is shown before the first page is written', async () => {
    const { project, repository, sync } = await linking.connected({}, 120)
    const totals: unknown[] = []
    linking.host.onResponse(async ({ url }) => {
      if (!url.includes(`${repository.id}/issues`) || !url.includes('sort=created')) return
      const { body } = await linking.get(`/api/codehost/${project.id}/syncs`)
      totals.push(body.data[0].total)
    })
    await sync()
    linking.host.onResponse(() => {})
    expect(totals).toEqual([120, 120])
  })

  test('is what a search finds, where the host sends no last page', async () => {
    const { sync } = await searching.connected({ token: 'reader' }, 230)
    const since = searching.host.requests.length
    expect(await sync()).toMatchObject({ status: 'completed', total: 230, fetched: 230 })
    expect(searches(searching, since)).toHaveLength(2)
  })

  test('takes no search where all items fit into one page', async () => {
    const { repository, sync } = await searching.connected()
    const since = searching.host.requests.length
    expect(await sync()).toMatchObject({ total: 0 })
    repository.issue()
    expect(await sync()).toMatchObject({ total: 1, fetched: 1 })
    expect(searches(searching, since)).toEqual([])
  })

  test.each([
    ['refused', { status: 422, body: '{"message":"Validation Failed"}' }],
    ['rate limited', { status: 403, headers: { 'x-ratelimit-remaining': '0' }, body: '{}' }],
    ['incomplete', { status: 200, body: '{"total_count":3,"incomplete_results":true}' }],
    ['without a total', { status: 200, body: '[]' }],
    ['cut', 'cut' as const],
  ])('is null where the search is %s, and the run continues', async (_, response) => {
    const { sync } = await searching.connected({}, 3)
    searching.host.fault(response, { matches: ({ url }) => url.startsWith('/search/') })
    expect(await sync()).toMatchObject({ status: 'completed', total: null, fetched: 3, rateLimit: {} })
  })

  test('is null for a run that only reads changes, which takes one request', async () => {
    const { sync } = await searching.connected({}, 120)
    await sync()
    const since = searching.host.requests.length
    expect(await sync()).toMatchObject({ status: 'completed', total: null, fetched: 0 })
    expect(searching.asked(since)).toHaveLength(1)
  })
})
