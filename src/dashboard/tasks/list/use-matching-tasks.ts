import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import { cursorParam, fetchTaskPage, type TaskFilters, type TaskListItem } from '../../api/queries.ts'
import { toast } from '../../components/toast.ts'
import type { Selection } from './use-selection.ts'

/** The service counts to this, and so many can be changed at once. */
const MAX_TASKS = 10_000
const PAGE_SIZE = 200

interface Matching {
  tasks: TaskListItem[]
  /** The most of them that were selected in the list. */
  listed: number
}

/** Selects all tasks that match the filters, also those that the list has not loaded. */
export function useMatchingTasks(filters: TaskFilters, { ids, add }: Selection) {
  const [matching, setMatching] = useState<Matching>()
  const [isLoading, setLoading] = useState(false)
  const { data } = useQuery({
    queryKey: ['tasks-total', filters],
    queryFn: () => fetchTaskPage({ ...filters, count: true, limit: 1 }),
    staleTime: 0,
  })
  if (matching && ids.size > matching.listed) setMatching({ ...matching, listed: ids.size })
  // A row that is no longer selected, or gone, ends it.
  const tasks = matching && ids.size >= matching.listed ? matching.tasks : undefined
  const total = data?.total ?? 0

  async function select() {
    setLoading(true)
    try {
      const found = await fetchMatching(filters)
      add(found.map(({ id }) => id))
      setMatching({ tasks: found, listed: ids.size })
    } catch (error) {
      toast.problem("Couldn't select all tasks", problemOf(error))
    } finally {
      setLoading(false)
    }
  }

  return {
    tasks,
    isLoading,
    select,
    canSelect: tasks === undefined && total > ids.size,
    label: `Select ${data?.totalIsExact ? 'all' : 'the first'} ${total.toLocaleString()} that match`,
  }
}

async function fetchMatching(filters: TaskFilters): Promise<TaskListItem[]> {
  const found = new Map<string, TaskListItem>()
  for (let cursor: string | undefined; found.size < MAX_TASKS; ) {
    // In the order of creation, which no change of a task changes meanwhile.
    const page = await fetchTaskPage({
      ...filters,
      sort: '-createdAt',
      limit: PAGE_SIZE,
      ...cursorParam(cursor),
    })
    for (const task of page.data) found.set(task.id, task)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  return [...found.values()]
}
