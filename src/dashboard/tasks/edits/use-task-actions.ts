import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Task, TaskListItem } from '../../api/queries.ts'
import { beginEdit } from '../../components/begun-edits.ts'
import { preloadModule } from '../../components/lazy.tsx'
import { toast } from '../../components/toast.ts'
import type { Change } from './bulk.ts'

export type AnyTask = Task | TaskListItem

export interface NameChange {
  field: 'labels' | 'assignees'
  name: string
  /** Otherwise the name is removed. */
  isAdded: boolean
}

export interface TaskActions {
  /** Marks tasks done; opens them again if all are. */
  toggleDone(tasks: AnyTask[]): void
  /**
   * Changes tasks optimistically, with undo, and with progress if they are many. Failed changes are reverted and reported.
   * Returns their ids.
   */
  change(tasks: AnyTask[], change: Change): Promise<string[]>
  /** Adds or removes one label or assignee and keeps the others. */
  changeNames(tasks: AnyTask[], change: NameChange): Promise<string[]>
  remove(tasks: AnyTask[]): Promise<string[]>
}

const load = preloadModule(() => import('./task-actions.ts'))

export function useTaskActions(): TaskActions {
  const queryClient = useQueryClient()
  return useMemo(() => {
    const loaded = () => {
      const actions = load().then(({ taskActions }) => taskActions(queryClient))
      beginEdit(actions)
      return actions
    }
    /** Tasks whose edit cannot be loaded are not changed. */
    const failed = (tasks: AnyTask[]) => () => {
      toast.notLoaded()
      return tasks.map(({ id }) => id)
    }
    const change: TaskActions['change'] = (tasks, change) =>
      loaded().then((actions) => actions.change(tasks, change), failed(tasks))
    return {
      change,
      changeNames: (tasks, change) =>
        loaded().then((actions) => actions.changeNames(tasks, change), failed(tasks)),
      remove: (tasks) => loaded().then((actions) => actions.remove(tasks), failed(tasks)),
      toggleDone: (tasks) =>
        void change(tasks, { status: tasks.every(({ status }) => status === 'done') ? 'open' : 'done' }),
    }
  }, [queryClient])
}
