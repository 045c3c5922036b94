import { Link } from '../../navigation/link.tsx'
import { useFilters } from '../use-filters.ts'

/** A link to another task, which keeps the list behind it. */
export function TaskLink({ id, title }: { id: string; title: string }) {
  const filters = useFilters()
  return (
    <Link to={`/tasks/${id}`} search={filters} className="breakable">
      {title}
    </Link>
  )
}
