import { useLocation } from 'wouter'
import { Link } from '../../navigation/link.tsx'
import { useSearchString } from '../../navigation/location-provider.tsx'
import { parseSearch } from '../../navigation/search-params.ts'
import { searchOf } from '../filters.ts'
import { listPathOf } from '../open-task.ts'
import { triageSearchOf } from '../triage/triage-filters.ts'
import { useFilters } from '../use-filters.ts'

/** A link to another task, which keeps the list behind it. */
export function TaskLink({ id, title }: { id: string; title: string }) {
  const filters = useFilters()
  const path = listPathOf(useLocation()[0])
  const search = triageSearchOf(parseSearch(useSearchString()))
  return (
    <Link to={`${path}/${id}`} search={path === '/triage' ? search : searchOf(filters)} className="breakable">
      {title}
    </Link>
  )
}
