import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import {
  cursorParam,
  fetchTaskPage,
  requestOf,
  type TaskFilters,
  type TaskListItem,
} from '../../api/queries.ts'
import { toast } from '../../components/toast.ts'
import { totalQuery } from './total-query.ts'
import type { Selection } from './use-selection.ts'

/** The service counts to this, and so many can be changed at once. */
const MAX_TASKS = 10_000
const PAGE_SIZE = 200

/** Selects all tasks that match the filters, also those that the list has not loaded. */
export function useMatchingTasks(filters: TaskFilters, { tasks, matching, selectMatching }: Selection) {
  const [isLoading, setLoading] = useState(false)
  const { data } = useQuery(totalQuery(filters))
  const total = data?.total ?? 0

  async function select() {
    setLoading(true)
    try {
      selectMatching(await fetchMatching(filters))
    } catch (error) {
      toast.problem("Couldn't select all tasks", problemOf(error))
    } finally {
      setLoading(false)
    }
  }

  return {
    isLoading,
    select,
    canSelect: matching === undefined && total > tasks.length,
    label: `Select ${data?.totalIsExact ? 'all' : 'the first'} ${total.toLocaleString()}`,
  }
}

/** All tasks that match, at most as many as can be changed at once. */
export async function fetchMatching(filters: TaskFilters): Promise<TaskListItem[]> {
  const found = new Map<string, TaskListItem>()
  for (let cursor: string | undefined; found.size < MAX_TASKS; ) {
    // In the order of creation, which no change of a task changes meanwhile: the oldest first where the list has them first.
    const page = await fetchTaskPage({
      ...requestOf(filters),
      sort: filters.sort === 'createdAt' ? 'createdAt' : '-createdAt',
      limit: PAGE_SIZE,
      ...cursorParam(cursor),
    })
    for (const task of page.data) found.set(task.id, task)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  return [...found.values()]
}
