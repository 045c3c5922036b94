import { useLocalStorage } from '@mantine/hooks'
import type { TaskFilters } from '../../api/queries.ts'

interface SavedFilter {
  name: string
  filters: TaskFilters
}

/** Filters somebody wants back, kept in this browser. */
export const useSavedFilters = () =>
  useLocalStorage<SavedFilter[]>({ key: 'inlet-filters', defaultValue: [], getInitialValueInEffect: false })
