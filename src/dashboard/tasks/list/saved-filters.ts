import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { isTransient, problemOf } from '../../api/problem.ts'
import { cursorParam, fetchAllPages, type TaskFilters } from '../../api/queries.ts'
import { firstCharacters } from '../../lib/first-characters.ts'
import { validFilters } from '../filters.ts'

/** Where browsers kept them until the service did. */
const STORAGE_KEY = 'inlet-filters'
const REFRESH_MS = 60_000
/** The API's limit. */
export const MAX_FILTER_NAME = 100

/** The saved filters of the key, with counts. */
export const savedFiltersQuery = queryOptions({
  queryKey: ['saved-filters'],
  queryFn: async () => {
    await moveStoredFilters()
    return fetchAllPages((cursor) =>
      dataOf(api.GET('/api/saved-filters', { params: { query: cursorParam(cursor) } })),
    )
  },
  staleTime: REFRESH_MS,
  refetchInterval: REFRESH_MS,
})

interface NewFilter {
  name: string
  filters: TaskFilters
  idempotencyKey?: string
}

export const saveFilter = ({ name, filters, idempotencyKey }: NewFilter) =>
  dataOf(
    api.POST('/api/saved-filters', {
      params: { header: idempotencyKey ? { 'idempotency-key': idempotencyKey } : {} },
      body: { name: firstCharacters(name, MAX_FILTER_NAME), query: filters },
    }),
  )

/**
 * Sends filters that this browser has stored to the service, once: the keys make a second tab's requests the same. Filters
 * that the service rejects, such as those of a deleted project, are dropped.
 */
async function moveStoredFilters(): Promise<void> {
  for (const { name, filters } of storedFilters()) {
    try {
      await saveFilter({
        name,
        filters: validFilters(filters),
        idempotencyKey: `stored-${encodeURIComponent(name.toWellFormed()).slice(0, 200)}`,
      })
    } catch (error) {
      // The rest is sent with the next request.
      if (isTransient(problemOf(error))) return
    }
  }
  localStorage.removeItem(STORAGE_KEY)
}

interface StoredFilter {
  name: string
  filters: Record<string, unknown>
}

/** Reads what any earlier version, or a person, may have written. */
function storedFilters(): StoredFilter[] {
  try {
    const stored = [JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]')].flat()
    return stored.filter(
      (one) => typeof one?.name === 'string' && typeof one.filters === 'object' && one.filters,
    )
  } catch {
    return []
  }
}
