import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { answerOf, api, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { type Task, taskQuery } from '../api/queries.ts'
import { tell } from '../parts/tell.ts'
import { replaceTasks } from './task-cache.ts'

type Change = Schema<'TaskChange'>

/** What a writer saw of a task: its version, and at least what is being changed. */
export type Seen = Pick<Task, 'version'> & Partial<Task>

export interface TaskEdit {
  /** Saves on top of what the writer saw; answers the task that stands after that, or undefined when nothing is saved. */
  save(change: Change, seen?: Seen): Promise<Task | undefined>
  isBusy: boolean
  /** Somebody else was quicker. */
  conflict: { mine: Change; theirs: Task } | undefined
  keepMine(): Promise<void>
  takeTheirs(): void
}

/** Writes a task without overwriting what somebody else wrote meanwhile. */
export function useTaskEdit(task: Task): TaskEdit {
  const cache = useQueryClient()
  const [conflict, setConflict] = useState<TaskEdit['conflict']>()
  const [isBusy, setBusy] = useState(false)
  const afterChoice = useRef<(standing: Task | undefined) => void>(undefined)

  async function save(change: Change, seen: Seen = task): Promise<Task | undefined> {
    setBusy(true)
    try {
      const saved = await answerOf(
        api.PATCH('/api/tasks/{id}', {
          params: { path: { id: task.id }, header: { 'if-match': `"${seen.version}"` } },
          body: change,
        }),
      )
      replaceTasks(cache, [saved])
      setConflict(undefined)
      return saved
    } catch (error) {
      const problem = problemOf(error)
      const theirs = problem.status === 412 ? await theirsNow() : undefined
      if (!theirs) {
        tell.problem('Not saved. What you wrote is still here.', problem)
        return undefined
      }
      // Another field was changed: both can stand.
      if (isUntouched(seen, theirs, change)) return await save(change, { ...seen, version: theirs.version })
      setConflict({ mine: change, theirs })
      return new Promise((resolve) => {
        afterChoice.current = resolve
      })
    } finally {
      setBusy(false)
    }
  }

  /** The task as it is now; undefined when it is gone, or cannot be asked for. */
  const theirsNow = () => cache.fetchQuery({ ...taskQuery(task.id), staleTime: 0 }).catch(() => undefined)

  return {
    save,
    isBusy,
    conflict,
    async keepMine() {
      if (!conflict) return
      // To save may end in the next choice, which has a promise of its own.
      const settle = afterChoice.current
      const standing = await save(conflict.mine, conflict.theirs)
      // Not saved: the choice is still open.
      if (standing) settle?.(standing)
    },
    takeTheirs() {
      setConflict(undefined)
      afterChoice.current?.(conflict?.theirs)
    },
  }
}

const isUntouched = (seen: Seen, theirs: Task, change: Change) =>
  Object.keys(change).every(
    (name) => JSON.stringify(seen[name as keyof Seen]) === JSON.stringify(theirs[name as keyof Task]),
  )
