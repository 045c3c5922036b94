import { useLocalStorage } from '@mantine/hooks'
import type { TaskFilters } from '../../api/queries.ts'

interface SavedFilter {
  name: string
  filters: TaskFilters
}

/** Saved filters, stored in the browser's local storage. */
export const useSavedFilters = () =>
  useLocalStorage<SavedFilter[]>({ key: 'inlet-filters', defaultValue: [], getInitialValueInEffect: false })
