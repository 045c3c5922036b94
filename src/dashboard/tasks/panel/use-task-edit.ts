import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import { type Task, taskQuery } from '../../api/queries.ts'
import { replaceTasks } from '../../api/task-cache.ts'
import { toast } from '../../components/toast.ts'
import { beginUndoable } from '../../components/undo.tsx'
import type { Change } from '../edits/bulk.ts'
import { patchTask } from '../edits/task-requests.ts'
import { shortTitle, wordsFor } from '../edits/toast-text.ts'
import { type Edit, editsOf } from '../edits/undo-edits.ts'
import { undoEntryFor } from '../edits/undo-entry.ts'

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

interface Written {
  saved?: Task
  /** What stands in the way. */
  theirs?: Task
  /** What was written on. */
  seen: Seen
}

/** Writes a task without overwriting what somebody else wrote meanwhile. */
export function useTaskEdit(task: Task): TaskEdit {
  const cache = useQueryClient()
  const [conflict, setConflict] = useState<TaskEdit['conflict']>()
  const [isBusy, setBusy] = useState(false)
  const afterChoice = useRef<(standing: Task | undefined) => void>(undefined)

  async function save(change: Change, seen: Seen = task): Promise<Task | undefined> {
    const edits = Promise.withResolvers<Edit[]>()
    const undoable = beginUndoable(undoEntryFor(cache, sentenceOf(change, task), edits.promise))
    setBusy(true)
    try {
      const { saved, theirs, seen: on } = await write(change, seen)
      const made = saved ? editsOf(new Map([[task.id, on]]), [saved], Object.keys(change)) : []
      edits.resolve(made)
      if (made.length > 0) undoable.done()
      else undoable.drop()
      if (!theirs) return saved
      setConflict({ mine: change, theirs })
      return new Promise((resolve) => {
        afterChoice.current = resolve
      })
    } finally {
      setBusy(false)
    }
  }

  /** Writes on top of what was seen, or of what others made of it as long as they left alone what is written. */
  async function write(change: Change, seen: Seen): Promise<Written> {
    try {
      const saved = await patchTask(task.id, change, seen.version)
      replaceTasks(cache, [saved])
      setConflict(undefined)
      return { saved, seen }
    } catch (error) {
      const problem = problemOf(error)
      const theirs = problem.status === 412 ? await theirsNow() : undefined
      if (theirs && isUntouched(seen, theirs, change))
        return await write(change, { ...seen, version: theirs.version })
      if (!theirs) toast.problem('Not saved. What you wrote is still here.', problem)
      return { theirs, seen }
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

const sentenceOf = (change: Change, { title }: Task) =>
  `${wordsFor(change)}: ${shortTitle(change.title ?? title)}`

const isUntouched = (seen: Seen, theirs: Task, change: Change) =>
  Object.keys(change).every(
    (name) => JSON.stringify(seen[name as keyof Seen]) === JSON.stringify(theirs[name as keyof Task]),
  )
