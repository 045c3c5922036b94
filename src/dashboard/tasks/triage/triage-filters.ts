import type { TaskFilters } from '../../api/queries.ts'
import { changedSearch } from '../../navigation/search-params.ts'
import { NOT_DONE, validFilters } from '../filters.ts'

/** What the address of the page may filter by. */
export type TriageSearch = Pick<TaskFilters, 'projectId' | 'source'>

/** What is to be triaged, oldest first. In this order: index.html preloads exactly this request. */
export const TRIAGE: TaskFilters = { sort: 'createdAt', status: NOT_DONE, triaged: false, snoozed: false }

export function triageSearchOf(search: Record<string, unknown>): TriageSearch {
  const { projectId, source } = validFilters(search)
  return { ...(projectId && { projectId }), ...(source && { source }) }
}

/** The present search with these. */
export const searchWithTriage = (search: TriageSearch): string =>
  changedSearch({ projectId: undefined, source: undefined, ...search })

export const triageFiltersOf = (search: Record<string, unknown>): TaskFilters => ({
  ...TRIAGE,
  ...triageSearchOf(search),
})
