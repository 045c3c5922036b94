import type { TaskFilters } from '../api/queries.ts'
import { useSearchOf } from '../navigation/use-search-of.ts'
import { filtersFrom } from './filters.ts'

/** The filters in the address. */
export const useFilters = (): TaskFilters => useSearchOf(filtersFrom)
