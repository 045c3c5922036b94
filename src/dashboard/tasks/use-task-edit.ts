import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { answerOf, api, type Schema } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { type Task, taskQuery } from '../api/queries.ts'
import { tell } from '../parts/tell.ts'
import { replaceTasks } from './task-cache.ts'

type Change = Schema<'TaskChange'>

export interface TaskEdit {
  /** Saves on top of the version the writer saw; answers whether it is saved. */
  save(change: Change, seenVersion?: number): Promise<boolean>
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
  const afterChoice = useRef<(isSaved: boolean) => void>(undefined)

  async function save(change: Change, seenVersion = task.version): Promise<boolean> {
    setBusy(true)
    try {
      const saved = await answerOf(
        api.PATCH('/api/tasks/{id}', {
          params: { path: { id: task.id }, header: { 'if-match': `"${seenVersion}"` } },
          body: change,
        }),
      )
      replaceTasks(cache, [saved])
      setConflict(undefined)
      return true
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status !== 412) {
        tell.problem('Not saved. What you wrote is still here.', problem)
        return false
      }
      const theirs = await cache.fetchQuery({ ...taskQuery(task.id), staleTime: 0 })
      // Another field was changed: both can stand.
      if (isUntouched(task, theirs, change)) return await save(change, theirs.version)
      setConflict({ mine: change, theirs })
      return new Promise((resolve) => {
        afterChoice.current = resolve
      })
    } finally {
      setBusy(false)
    }
  }

  return {
    save,
    isBusy,
    conflict,
    async keepMine() {
      if (!conflict) return
      const isSaved = await save(conflict.mine, conflict.theirs.version)
      afterChoice.current?.(isSaved)
    },
    takeTheirs() {
      setConflict(undefined)
      afterChoice.current?.(true)
    },
  }
}

const isUntouched = (seen: Task, theirs: Task, change: Change) =>
  Object.keys(change).every(
    (name) => JSON.stringify(seen[name as keyof Task]) === JSON.stringify(theirs[name as keyof Task]),
  )
