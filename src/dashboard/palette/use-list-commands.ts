import { useLocation } from 'wouter'
import type { TaskFilters } from '../api/queries.ts'
import type { PaletteStep } from '../keyboard/shortcuts.ts'
import { useMe } from '../session/session.ts'
import { isNotDone, NOT_DONE, searchWithFilters, validFilters } from '../tasks/filters.ts'
import { useDownloadCsv } from '../tasks/list/download-csv.tsx'
import { acceptAll } from '../tasks/triage/accept-all-event.ts'
import { triageFiltersOf } from '../tasks/triage/triage-filters.ts'
import { useFilters } from '../tasks/use-filters.ts'
import { command, type Option } from './options.ts'

/** What can be done with the list that is shown. */
export function useListCommands(onStep: (step: PaletteStep) => void): Option[] {
  const [pathname, navigate] = useLocation()
  const filters = useFilters()
  const { can } = useMe()
  const { downloadCsv } = useDownloadCsv()
  const filter = command({ label: 'Filter by…', shortcut: 'f', isStep: true, run: () => onStep('filter') })
  const exportAs = (shown: TaskFilters) =>
    command({ label: 'Export these tasks as CSV', keywords: 'download', run: () => downloadCsv(shown) })
  if (pathname.startsWith('/triage')) {
    const accept = can('tasks:write') ? [command({ label: 'Accept all', run: acceptAll })] : []
    return [filter, ...accept, exportAs(triageFiltersOf(filters))]
  }
  if (!pathname.startsWith('/tasks')) return []
  const isHidden = isNotDone(filters.status)
  const status = isHidden ? undefined : NOT_DONE
  const toggleDone = () => navigate(pathname + searchWithFilters(validFilters({ ...filters, status })))
  return [
    filter,
    command({ label: 'Sort by…', keywords: 'order', isStep: true, run: () => onStep('sort') }),
    command({ label: isHidden ? 'Show done tasks' : 'Hide done tasks', run: toggleDone }),
    exportAs(filters),
  ]
}
