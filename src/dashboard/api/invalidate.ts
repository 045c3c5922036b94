import type { InfiniteQueryObserverResult, Query, QueryClient } from '@tanstack/react-query'

interface Queries {
  queryKey?: readonly unknown[]
  predicate?: (query: Query) => boolean
}

/**
 * Refetches queries that are shown. A further page that is being loaded arrives first: a refetch would cancel it, and
 * whoever asked for it would wait in vain.
 */
export async function invalidate(queryClient: QueryClient, which: Queries = {}): Promise<void> {
  const fetching = queryClient.getQueryCache().findAll({ ...which, fetchStatus: 'fetching' })
  const loading = fetching.filter(({ state }) => state.fetchMeta?.fetchMore !== undefined)
  // `fetch` returns the promise of the fetch that is in progress.
  await Promise.allSettled(loading.map((query) => query.fetch()))
  await queryClient.invalidateQueries(which)
}

/** Loads a further page, after a refetch that is in progress: it would be cancelled, and what changed not shown. */
export async function loadMore(
  query: Pick<InfiniteQueryObserverResult, 'isFetching' | 'refetch' | 'fetchNextPage'>,
): Promise<void> {
  if (query.isFetching) await query.refetch({ cancelRefetch: false })
  await query.fetchNextPage()
}
