import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { isHidden, type TaskFilters, type TaskListItem, tasksQuery } from '../../api/queries.ts'
import { useTaskRows } from '../../api/use-tasks.ts'
import { totalQuery } from '../list/total-query.ts'

export interface Left {
  count: number | undefined
  isExact: boolean
  /** Undefined if the list does not have all of them. */
  tasks: TaskListItem[] | undefined
}

/**
 * How many tasks are left to triage: those of the list while it is shown and has all of them, because it has changes that
 * are being saved; otherwise as the service counts.
 */
export function useLeft(filters: TaskFilters): Left {
  const cache = useQueryClient().getQueryCache()
  const { data } = useInfiniteQuery({ ...tasksQuery(filters), enabled: false })
  const tasks = useTaskRows(data)
  const listed = useMemo(() => tasks.filter((task) => !isHidden(filters, task)), [tasks, filters])
  const isShown = cache.find({ queryKey: tasksQuery(filters).queryKey })?.isActive()
  const isComplete = isShown && data?.pages.at(-1)?.nextCursor === null
  const { data: counted } = useQuery({ ...totalQuery(filters), enabled: !isComplete })
  if (isComplete) return { count: listed.length, isExact: true, tasks: listed }
  return { count: counted?.total, isExact: counted?.totalIsExact ?? true, tasks: undefined }
}
