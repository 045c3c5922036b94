import { useMemo } from 'react'
import type { TaskFilters } from '../api/queries.ts'
import { useSearchString } from '../navigation/location-provider.tsx'
import { parseSearch } from '../navigation/search-params.ts'
import { filtersFrom } from './filters.ts'

/** The filters in the address. */
export function useFilters(): TaskFilters {
  const search = useSearchString()
  return useMemo(() => filtersFrom(parseSearch(search)), [search])
}
