import { type Static, Type } from '@sinclair/typebox'
import { PageOf, ref, StrictObject, TrimmedString, Uuid } from './parts.ts'
import { TaskQuery } from './task-query.ts'

const Name = TrimmedString(100, {
  description: 'The name, 1 to 100 characters after trimming.',
  examples: ['Open crashes'],
})

const { properties } = Type.Omit(TaskQuery, ['cursor', 'limit', 'fields', 'count', 'deleted'])
const { default: _, ...includeArchived } = properties.includeArchived
export const SavedQuery = StrictObject(
  { ...properties, includeArchived },
  {
    $id: 'SavedQuery',
    description:
      'Filters and sort order, as in `GET /api/tasks`. Filters that can be repeated are arrays, and numbers and booleans are JSON values.',
  },
)
export type SavedQuery = Static<typeof SavedQuery>

/** Counting more takes longer than a list may. */
export const MAX_FILTER_COUNT = 1_000

export const SavedFilter = Type.Object(
  {
    id: Uuid('The ID of the saved filter.'),
    name: Type.String({ description: 'The name.' }),
    query: ref(SavedQuery),
    count: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      maximum: MAX_FILTER_COUNT,
      description:
        'The number of tasks that match, up to 1,000, which then means 1,000 or more. Null if counting took too long. As in the dashboard, snoozed tasks don’t count, unless the query has `snoozed`, `q`, `externalId`, or a number at the code host.',
    }),
  },
  {
    $id: 'SavedFilter',
    description: 'A filter of tasks under a name. It belongs to the key that created it.',
  },
)
export type SavedFilter = Static<typeof SavedFilter>

export const NewSavedFilter = StrictObject(
  { name: Name, query: ref(SavedQuery) },
  { $id: 'NewSavedFilter', description: 'The filter to save.' },
)
export type NewSavedFilter = Static<typeof NewSavedFilter>

export const SavedFilterChange = StrictObject(
  { name: Type.Optional(Name), query: Type.Optional(ref(SavedQuery)) },
  { $id: 'SavedFilterChange', description: 'The fields to update. A `query` replaces the previous one.' },
)
export type SavedFilterChange = Static<typeof SavedFilterChange>

export const SavedFilterPage = PageOf(ref(SavedFilter), { description: 'A page of saved filters.' })
