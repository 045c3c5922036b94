import { useLocation } from 'wouter'
import type { OverviewScope } from '../api/overview-queries.ts'
import { changedSearch } from '../navigation/search-params.ts'
import { useSearchOf } from '../navigation/use-search-of.ts'

export const WEEKS = [12, 26, 52]
const DEFAULT_WEEKS = 12

/** Which project and how many weeks the address names. */
export function useScope() {
  const [pathname, navigate] = useLocation()
  const scope = useSearchOf(scopeOf)
  const change = (changed: Partial<OverviewScope>) =>
    navigate(pathname + changedSearch(searchOf({ ...scope, ...changed })), {
      replace: true,
      state: history.state,
    })
  return { scope, change }
}

const scopeOf = ({ projectId, weeks }: Record<string, unknown>): OverviewScope => ({
  projectId: typeof projectId === 'string' ? projectId : undefined,
  weeks: WEEKS.find((count) => count === weeks) ?? DEFAULT_WEEKS,
})

export const searchOf = ({ projectId, weeks }: OverviewScope) => ({
  projectId,
  weeks: weeks === DEFAULT_WEEKS ? undefined : weeks,
})
