import { type InfiniteData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef, useSyncExternalStore } from 'react'
import { type TaskIdPage, type TaskListItem, taskQuery } from './queries.ts'
import { rowsIn } from './task-cache.ts'
import { recordsOf } from './task-records.ts'

/** A task as it is shown: undefined while it loads. */
export function useTask(id: string, { isEnabled = true }: { isEnabled?: boolean } = {}) {
  const records = recordsOf(useQueryClient())
  const query = useQuery({ ...taskQuery(id), enabled: isEnabled })
  const task = useSyncExternalStore(records.subscribe, () => records.full(id))
  return { task: isEnabled ? task : undefined, query }
}

/** The rows of a list as they are shown, each once. */
export function useTaskRows(list: InfiniteData<TaskIdPage> | undefined): TaskListItem[] {
  const records = recordsOf(useQueryClient())
  const revision = useSyncExternalStore(records.subscribe, records.revision)
  const shown = useRef<TaskListItem[]>([])
  return useMemo(() => {
    void revision
    const rows = rowsIn(records, list?.pages ?? [])
    const isSame =
      rows.length === shown.current.length && rows.every((row, index) => row === shown.current[index])
    if (!isSame) shown.current = rows
    return shown.current
  }, [records, list, revision])
}
