import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { describe, expect, test, vi } from 'vitest'
import { invalidate, loadMore } from '../../../src/dashboard/api/invalidate.ts'

/** A list of which the first page is shown; `respond` answers the oldest request that waits. */
async function givenList() {
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const requests: { page: number; respond(text: string): void; fail(): void }[] = []
  const observer = new InfiniteQueryObserver(queryClient, {
    queryKey: ['comments', 'a'],
    queryFn: ({ pageParam }) =>
      new Promise<string>((resolve, reject) =>
        requests.push({ page: pageParam, respond: resolve, fail: () => reject(new Error('away')) }),
      ),
    initialPageParam: 1,
    getNextPageParam: (_last, pages: string[]) => pages.length + 1,
  })
  observer.subscribe(() => {})
  const list = {
    queryClient,
    query: () => observer.getCurrentResult(),
    pages: () => observer.getCurrentResult().data?.pages,
    requested: () => requests.map(({ page }) => page),
    async next() {
      return vi.waitFor(() => {
        const request = requests.shift()
        if (!request) throw new Error('There is no request.')
        return request
      })
    },
  }
  ;(await list.next()).respond('one')
  await vi.waitFor(() => expect(list.pages()).toEqual(['one']))
  return list
}

describe('a further page', () => {
  test('that is being loaded arrives before a refetch, which follows', async () => {
    const list = await givenList()
    void loadMore(list.query())
    const second = await list.next()
    const refetched = invalidate(list.queryClient, { queryKey: ['comments'] })
    second.respond('two')
    await vi.waitFor(() => expect(list.pages()).toEqual(['one', 'two']))
    for (const text of ['one again', 'two again']) (await list.next()).respond(text)
    await refetched
    expect(list.pages()).toEqual(['one again', 'two again'])
  })

  test('that cannot be loaded delays a refetch no longer', async () => {
    const list = await givenList()
    void loadMore(list.query())
    const refetched = invalidate(list.queryClient, { queryKey: ['comments', 'a'] })
    ;(await list.next()).fail()
    ;(await list.next()).respond('one again')
    await refetched
    expect(list.pages()).toEqual(['one again'])
  })

  test('is loaded after a refetch that is in progress', async () => {
    const list = await givenList()
    const refetched = invalidate(list.queryClient, { queryKey: ['comments', 'a'] })
    const first = await list.next()
    void loadMore(list.query())
    first.respond('one again')
    await refetched
    ;(await list.next()).respond('two')
    await vi.waitFor(() => expect(list.pages()).toEqual(['one again', 'two']))
    expect(list.requested()).toEqual([])
  })
})
