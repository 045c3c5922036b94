import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { DEFAULT_SORT, fetchTaskPage, MAX_QUERY, type TaskListItem } from '../api/queries.ts'
import { firstCharacters } from '../lib/first-characters.ts'
import { useMe } from '../session/session.ts'
import { TYPING_MS } from '../tasks/names.ts'
import type { Option } from './options.ts'

const MAX_FOUND = 8
/** Shorter texts match nearly everything. */
const MIN_TEXT = 2

/** Tasks that are found by words or number, in a project or in all. */
export function useFoundTasks(text: string, projectId?: string) {
  const { can } = useMe()
  const [queried] = useDebouncedValue(text, TYPING_MS)
  const isEnabled = queried.length >= MIN_TEXT && can('tasks:read')
  const { data, isFetching } = useQuery({
    queryKey: ['found-tasks', queried, projectId],
    queryFn: ({ signal }) =>
      fetchTaskPage(
        {
          q: firstCharacters(queried, MAX_QUERY),
          sort: DEFAULT_SORT,
          limit: MAX_FOUND,
          ...(projectId && { projectId }),
        },
        signal,
      ),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  return {
    tasks: isEnabled ? (data?.data ?? []) : [],
    isSettled: queried === text && !(isEnabled && isFetching),
  }
}

/** The line of a task. */
export function taskOption(
  task: TaskListItem,
  { group, run, details }: Pick<Option, 'group' | 'run'> & { details?: string },
): Option {
  const number = task.codehostPrNumber ?? task.codehostIssueNumber
  return {
    id: task.id,
    label: task.title,
    group,
    aside: [number !== null && `#${number}`, details].filter(Boolean).join(', ') || undefined,
    run,
  }
}
