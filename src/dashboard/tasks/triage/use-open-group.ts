import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { isHidden, type Task, type TaskListItem, tasksQuery } from '../../api/queries.ts'
import { useTaskRows } from '../../api/use-tasks.ts'
import { useSearchOf } from '../../navigation/use-search-of.ts'
import { listPathOf } from '../open-task.ts'
import { equalTasks } from './equal-tasks.ts'
import { triageFiltersOf, triageSearchOf } from './triage-filters.ts'

/** The tasks that are one row with the open one in Triage, the best one to merge into first; elsewhere it is alone. */
export function useOpenGroup(task: Task): (Task | TaskListItem)[] {
  const [pathname] = useLocation()
  const search = useSearchOf(triageSearchOf)
  const filters = useMemo(() => triageFiltersOf(search), [search])
  const { data } = useInfiniteQuery({ ...tasksQuery(filters), enabled: false })
  const isInTriage = listPathOf(pathname) === '/triage'
  const rows = useTaskRows(isInTriage ? data : undefined)
  return useMemo(() => {
    const shown = rows.filter((row) => !isHidden(filters, row))
    const isListed = shown.some(({ id }) => id === task.id)
    return isListed ? equalTasks(shown).tasksOf(task as TaskListItem) : [task]
  }, [rows, filters, task])
}
