import { orderById } from '../domain/cursor.ts'
import type { Operations } from '../domain/operation.ts'
import { savedFilterNotFound, tooManySavedFilters } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../repositories/index.ts'
import type { FilterOf, SavedFilterRow } from '../repositories/saved-filters.ts'
import {
  MAX_FILTER_COUNT,
  type NewSavedFilter,
  type SavedFilter,
  type SavedFilterChange,
  type SavedQuery,
} from '../schemas/saved-filter.ts'
import type { Caller } from './access.ts'
import { type Page, readPage } from './page.ts'
import { requirePlace } from './place.ts'
import { filterOf } from './tasks/filter.ts'

const MAX_PER_HOLDER = 50
/** For all counts of a response. A filter without an index reads every task: about half a second for a million. */
const COUNTING_MS = 1_000

/** They are settings of one person, who may only read tasks. */
export const savedFilterOperations = {
  create: { scope: 'tasks:read' },
  list: { scope: 'tasks:read' },
  get: { scope: 'tasks:read' },
  update: { scope: 'tasks:read' },
  delete: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof savedFiltersService>>

/** Filters of tasks under a name, each of one key or person. */
export function savedFiltersService({ repos, clock }: { repos: Repositories; clock: Clock }) {
  return {
    /** @throws project_not_found, list_not_found, too_many_saved_filters, person_required */
    async create(caller: Caller, { name, query }: NewSavedFilter): Promise<SavedFilter> {
      return repos.within(caller).transaction(async (bound) => {
        await requirePlace(bound, query)
        const now = clock.now()
        const row = { id: clock.newId(now), holder: caller.principal, name, query, createdAt: now }
        if (!(await bound.savedFilters.insertUpTo(MAX_PER_HOLDER, row)))
          throw tooManySavedFilters(MAX_PER_HOLDER)
        return counted(bound, { caller, row })
      })
    },

    /** Oldest first. */
    async list(caller: Caller, request: { limit?: number; cursor?: string }): Promise<Page<SavedFilter>> {
      const bound = repos.within(caller)
      const until = performance.now() + COUNTING_MS
      return readPage({
        order: orderById('saved-filters'),
        request,
        read: async (after, limit) => {
          const filters: SavedFilter[] = []
          for (const row of await bound.savedFilters.list(caller.principal, { after, limit })) {
            filters.push(
              performance.now() < until ? await counted(bound, { caller, row }) : toSavedFilter(row, null),
            )
          }
          return filters
        },
      })
    },

    /** @throws saved_filter_not_found */
    async get(caller: Caller, id: string): Promise<SavedFilter> {
      const bound = repos.within(caller)
      return counted(bound, { caller, row: await found(bound, { id, holder: caller.principal }) })
    },

    /** @throws saved_filter_not_found, project_not_found, list_not_found, person_required */
    async update(
      caller: Caller,
      { id, change }: { id: string; change: SavedFilterChange },
    ): Promise<SavedFilter> {
      return repos.within(caller).transaction(async (bound) => {
        const which = { id, holder: caller.principal }
        const row = await found(bound, which)
        if (change.query) await requirePlace(bound, change.query)
        if (Object.keys(change).length > 0) await bound.savedFilters.update(which, change)
        return counted(bound, { caller, row: { ...row, ...change } })
      })
    },

    /** @throws saved_filter_not_found */
    async delete(caller: Caller, id: string): Promise<void> {
      const isDeleted = await repos.within(caller).savedFilters.delete({ id, holder: caller.principal })
      if (!isDeleted) throw savedFilterNotFound(id)
    },
  }

  async function counted(
    { tasks }: BoundRepositories,
    { caller, row }: { caller: Caller; row: SavedFilterRow },
  ): Promise<SavedFilter> {
    const filter = filterOf(shownBy(queryOf(row)), { caller, now: clock.now() })
    const { count, isExact } = await tasks.count(filter, MAX_FILTER_COUNT)
    return toSavedFilter(row, isExact ? count : null)
  }
}

/** As the dashboard lists them: snoozed tasks are hidden, unless somebody looks for them. */
function shownBy(query: SavedQuery): SavedQuery {
  const { snoozed, q, externalId, codehostIssueNumber, codehostPrNumber } = query
  const isSearch = [snoozed, q, externalId, codehostIssueNumber, codehostPrNumber].some(
    (value) => value !== undefined,
  )
  return isSearch ? query : { ...query, snoozed: false }
}

async function found({ savedFilters }: BoundRepositories, which: FilterOf): Promise<SavedFilterRow> {
  const row = await savedFilters.find(which)
  if (!row) throw savedFilterNotFound(which.id)
  return row
}

const toSavedFilter = (row: SavedFilterRow, count: number | null): SavedFilter => ({
  id: row.id,
  name: row.name,
  query: queryOf(row),
  count,
})

/** Cast: the schemas accept only such objects, so the column contains only such. */
const queryOf = ({ query }: SavedFilterRow) => query as SavedQuery
