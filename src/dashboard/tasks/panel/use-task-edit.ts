import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { isUnreachable, type Problem, problemOf } from '../../api/problem.ts'
import { type Task, taskQuery } from '../../api/queries.ts'
import { recordsOf } from '../../api/task-records.ts'
import { offerRetry } from '../../components/offer-retry.tsx'
import { toast } from '../../components/toast.ts'
import { beginUndoable } from '../../components/undo.tsx'
import type { Change } from '../edits/bulk.ts'
import { inTurn } from '../edits/in-turn.ts'
import { patchTask } from '../edits/task-requests.ts'
import { changeLabel, shortTitle } from '../edits/toast-text.ts'
import { undoActionFor } from '../edits/undo-action.ts'
import { type Edit, editsOf } from '../edits/undo-edits.ts'
import { effectOf } from '../status-choice.ts'

/** The task that an edit is based on: its version, and at least the edited fields. */
export type Seen = Pick<Task, 'version'> & Partial<Task>

export interface TaskEdit {
  /** Saves a change based on `seen`. Returns the resulting task, or undefined when it was not saved. */
  save(change: Change, seen?: Seen): Promise<Task | undefined>
  isBusy: boolean
  /** Set when someone else changed the same field. */
  conflict: { mine: Change; theirs: Task } | undefined
  keepMine(): Promise<void>
  takeTheirs(): void
}

interface WriteResult {
  saved?: Task
  /** The conflicting version. */
  theirs?: Task
  /** The version that the change was applied to. */
  seen: Seen
  /** Whether there was no response. */
  isUnsent?: boolean
}

interface TaskEditOptions {
  /** Shows why a change was not saved. */
  onProblem?(problem: Problem): void
}

/** Saves edits with a version check, so that changes by others are not overwritten. */
export function useTaskEdit(
  task: Task,
  {
    onProblem = (problem) => toast.problem("Couldn't save. Your input is kept.", problem),
  }: TaskEditOptions = {},
): TaskEdit {
  const queryClient = useQueryClient()
  const [conflict, setConflict] = useState<TaskEdit['conflict']>()
  const [isBusy, setBusy] = useState(false)
  const resolveChoice = useRef<(saved: Task | undefined) => void>(undefined)
  const isShown = useIsShown()

  async function save(change: Change, seen: Seen = task): Promise<Task | undefined> {
    const edits = Promise.withResolvers<Edit[]>()
    const label = actionLabel(change, task)
    const pendingUndo = beginUndoable(undoActionFor({ queryClient, label, edits: edits.promise }))
    const toastId = `unsent-${task.id}-${Object.keys(change)}`
    const retry = async () =>
      (await offerRetry({ id: toastId, title: 'Not saved', text: `${label}.` }))
        ? save(change, seen)
        : undefined
    toast.hide(toastId)
    setBusy(true)
    const names = onlyNamesOf(change)
    const endPreview = names
      ? recordsOf(queryClient).preview({ ids: new Set([task.id]), changeOf: () => names })
      : () => {}
    try {
      const { saved, theirs, isUnsent, seen: base } = await inTurn([task.id], () => write(change, seen))
      const doneEdits = saved
        ? editsOf({
            before: new Map([[task.id, base]]),
            done: [saved],
            fields: Object.keys(effectOf(change)),
          })
        : []
      edits.resolve(doneEdits)
      if (doneEdits.length > 0) pendingUndo.complete()
      else pendingUndo.discard()
      // Not awaited: nothing is busy while somebody decides.
      if (isUnsent) return retry()
      if (!theirs) return saved
      if (!isShown.current) {
        toast.error(`Not saved: ${label}`, 'Someone else changed the same. Open the task to change it again.')
        return undefined
      }
      setConflict({ mine: change, theirs })
      return new Promise((resolve) => {
        resolveChoice.current = resolve
      })
    } finally {
      endPreview()
      setBusy(false)
    }
  }

  /** Retries on the current version when others changed only other fields. */
  async function write(change: Change, seen: Seen): Promise<WriteResult> {
    try {
      const receive = recordsOf(queryClient).request()
      const saved = await patchTask({ id: task.id, change, version: seen.version })
      receive([saved])
      setConflict(undefined)
      return { saved, seen }
    } catch (error) {
      const problem = problemOf(error)
      const theirs = problem.status === 412 ? await fetchTheirs() : undefined
      if (theirs && isUntouched({ seen, theirs, change }))
        return await write(change, { ...seen, version: theirs.version, triaged: theirs.triaged })
      if (isUnreachable(problem)) return { seen, isUnsent: true }
      if (!theirs) onProblem(problem)
      return { theirs, seen }
    }
  }

  /** The current task; undefined when it cannot be loaded. */
  const fetchTheirs = () =>
    queryClient.fetchQuery({ ...taskQuery(task.id), staleTime: 0 }).catch(() => undefined)

  return {
    save,
    isBusy,
    conflict,
    async keepMine() {
      if (!conflict) return
      // Saving may cause another conflict, which replaces `resolveChoice`.
      const resolve = resolveChoice.current
      const saved = await save(conflict.mine, conflict.theirs)
      // Not saved: the conflict remains.
      if (saved) resolve?.(saved)
    },
    takeTheirs() {
      setConflict(undefined)
      resolveChoice.current?.(conflict?.theirs)
    },
  }
}

/** A change may be sent again after its panel is closed. */
function useIsShown() {
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  return isShown
}

/**
 * The next change of labels, assignees or blockers is made of what is shown; texts are drafts until they are saved. Cast:
 * only these are arrays.
 */
const onlyNamesOf = (change: Change) =>
  Object.values(change).every(Array.isArray)
    ? (change as Pick<Change, 'labels' | 'assignees' | 'blockedBy'>)
    : undefined

const actionLabel = (change: Change, { title }: Task) =>
  `${changeLabel(change)}: ${shortTitle(change.title ?? title)}`

const isUntouched = ({ seen, theirs, change }: { seen: Seen; theirs: Task; change: Change }) =>
  Object.keys(change).every(
    (name) => JSON.stringify(seen[name as keyof Seen]) === JSON.stringify(theirs[name as keyof Task]),
  )
