import { Link } from '../../navigation/link.tsx'
import { searchOf } from '../filters.ts'
import { useFilters } from '../use-filters.ts'

/** A link to another task, which keeps the list behind it. */
export function TaskLink({ id, title }: { id: string; title: string }) {
  const filters = useFilters()
  return (
    <Link to={`/tasks/${id}`} search={searchOf(filters)} className="breakable">
      {title}
    </Link>
  )
}
