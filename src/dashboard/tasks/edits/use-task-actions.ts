import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { isPassing, problemOf } from '../../api/problem.ts'
import type { Task, TaskFilters, TaskListItem } from '../../api/queries.ts'
import { serverTime } from '../../api/server-clock.ts'
import { dropTasks, listsHolding, previewChange, putInPlace, replaceTasks } from '../../api/task-cache.ts'
import { toast } from '../../components/toast.ts'
import { beginUndoable } from '../../components/undo.tsx'
import type { UndoEntry } from '../../components/undo-stack.ts'
import { batchesOf, type Change, type Failure, type Sent } from './bulk.ts'
import { sendEach } from './send-each.ts'
import { changedSince, deleteTask, getTask, patchTask, restoreTask, sendAll } from './task-requests.ts'
import { reasonsFor, shortTitle, wordsFor } from './toast-text.ts'
import { type Edit, editsOf } from './undo-edits.ts'
import { undoEntryFor } from './undo-entry.ts'

type Known = Task | TaskListItem

export interface TaskActions {
  toggleDone(task: Known): void
  /** Changes tasks and offers to undo it. What fails stays as it was, and says why; returns the ids of those. */
  change(tasks: Known[], change: Change): Promise<string[]>
  /** Adds a label to those that do not have it. */
  addLabel(tasks: Known[], label: string): Promise<string[]>
  remove(tasks: Known[]): Promise<string[]>
}

/** Whoever writes a task this often at once is a machine. */
const MAX_ATTEMPTS = 5

export function useTaskActions(): TaskActions {
  const cache = useQueryClient()
  return useMemo(() => {
    async function changeEach(
      tasks: Known[],
      words: string,
      changeOf: (task: Known) => Change,
      send: (before: Map<string, Known>) => Promise<Sent<Known>>,
    ) {
      const edits = Promise.withResolvers<Edit[]>()
      const entry = undoEntryFor(cache, sentenceOf(words, tasks), edits.promise)
      const undoable = beginUndoable(entry)
      const before = new Map(tasks.map((task) => [task.id, task]))
      const hidePreview = previewChange(
        cache,
        [...before.keys()],
        (task) => changeOf(task) as Partial<TaskListItem>,
      )
      const { done, failures } = await send(before)
      if (failures.length > 0) hidePreview()
      replaceTasks(cache, done)
      if (failures.length > 0) toast.refused(notDone(failures, tasks.length, 'changed'), reasonsFor(failures))

      const made = editsOf(before, done, [...new Set(tasks.flatMap((task) => Object.keys(changeOf(task))))])
      edits.resolve(made)
      entry.sentence = sentenceOf(words, done)
      if (made.length > 0) undoable.done()
      else {
        undoable.drop()
        if (done.length > 0) toast.done(entry.sentence)
      }
      return idsOf(failures)
    }

    const change = (tasks: Known[], change: Change) => {
      const [only, ...others] = tasks
      return changeEach(
        tasks,
        wordsFor(change),
        () => change,
        () =>
          only && others.length === 0
            ? sendOne(only, () => patchTask(only.id, change))
            : sendAll(batchesOf(tasks, () => change)),
      )
    }

    async function addLabel(tasks: Known[], label: string) {
      const without = tasks.filter(({ labels }) => !labels.includes(label))
      const [only, ...others] = without
      if (!only) {
        toast.done(`All of them have the label ${label}.`)
        return []
      }
      const withIt = ({ labels }: Known) => ({
        labels: labels.includes(label) ? labels : [...labels, label],
      })
      return changeEach(without, `Label ${label} added`, withIt, (before) =>
        others.length === 0
          ? sendOne(only, () => relabel(only, withIt, before))
          : relabelMany(without, withIt, before),
      )
    }

    async function remove(tasks: Known[]) {
      const gone: Known[] = []
      const ids = tasks.map(({ id }) => id)
      const deletion = Promise.withResolvers<Known[]>()
      const holders = listsHolding(cache, ids)
      const entry = restoreEntry(sentenceOf('Deleted', tasks), deletion.promise, holders)
      const undoable = beginUndoable(entry)
      const failures = await sendEach({
        items: tasks,
        label: 'Deleting tasks',
        async send(task) {
          await deleteTask(task.id)
          gone.push(task)
        },
      })
      dropTasks(
        cache,
        gone.map(({ id }) => id),
      )
      deletion.resolve(gone)
      if (failures.length > 0) toast.refused(notDone(failures, tasks.length, 'deleted'), reasonsFor(failures))
      entry.sentence = sentenceOf('Deleted', gone)
      if (gone.length > 0) undoable.done()
      else undoable.drop()
      return idsOf(failures)
    }

    /** Each comes back where it was, in every list that held it. */
    function restoreEntry(
      sentence: string,
      deleted: Promise<Known[]>,
      holders: Map<string, TaskFilters[]>,
    ): UndoEntry {
      return {
        sentence,
        async undo() {
          const gone = await deleted
          if (gone.length === 0) return { isEmpty: true }
          const failures = await sendEach({
            items: gone,
            label: 'Restoring tasks',
            async send({ id }) {
              const task = await restoreTask(id)
              cache.setQueryData(['task', id], task)
              for (const filters of holders.get(id) ?? []) putInPlace(cache, filters, [task as TaskListItem])
            },
          })
          if (failures.length === 0) return {}
          const rest = failures.filter(({ problem }) => isPassing(problem)).map(({ item }) => item)
          return {
            notUndone: `${notDone(failures, gone.length, 'restored')}. ${reasonsFor(failures)}`,
            ...(rest.length > 0 && { rest: restoreEntry(sentence, Promise.resolve(rest), holders) }),
          }
        },
      }
    }

    return {
      change,
      addLabel,
      remove,
      toggleDone: (task) => void change([task], { status: task.status === 'done' ? 'open' : 'done' }),
    }
  }, [cache])
}

/** What came of the one request that changes one task; a rate limit is said like any other reason. */
async function sendOne(task: Known, send: () => Promise<Task>): Promise<Sent<Known>> {
  const done: Task[] = []
  const failures = await sendEach({ items: [task], send: async () => void done.push(await send()) })
  return { done, failures }
}

/** Labels are written whole: on top of those that somebody else gave meanwhile, never instead of them. */
async function relabel(
  task: Known,
  changeOf: (task: Known) => Change,
  before: Map<string, Known>,
): Promise<Task> {
  let known = task
  for (let attempt = 1; ; attempt++) {
    try {
      return await patchTask(known.id, changeOf(known), known.version)
    } catch (error) {
      if (problemOf(error).status !== 412 || attempt === MAX_ATTEMPTS) throw error
      known = await getTask(task.id)
      before.set(known.id, known)
    }
  }
}

/** Many share a request, which no version guards: what others changed since this page was loaded is read first. */
async function relabelMany(
  tasks: Known[],
  changeOf: (task: Known) => Change,
  before: Map<string, Known>,
): Promise<Sent<Known>> {
  try {
    const loadedAt = new Date(serverTime(performance.timeOrigin)).toISOString()
    const changed = await changedSince(loadedAt, tasks.length)
    const now = tasks.map((task) => changed.get(task.id) ?? task)
    for (const task of now) before.set(task.id, task)
    return await sendAll(batchesOf(now, changeOf))
  } catch (error) {
    const problem = problemOf(error)
    return { done: [], failures: tasks.map((item) => ({ item, problem })) }
  }
}

const idsOf = (failures: Failure<Known>[]) => failures.map(({ item }) => item.id)

function notDone({ length }: Failure<Known>[], count: number, what: string): string {
  if (count === 1) return `It was not ${what}`
  return `${length.toLocaleString()} of ${count.toLocaleString()} tasks ${length === 1 ? 'was' : 'were'} not ${what}`
}

/** What was done, and to which. */
function sentenceOf(words: string, [first, ...others]: Known[]): string {
  if (others.length > 0) return `${(others.length + 1).toLocaleString()} tasks: ${words}.`
  return `${words}: ${shortTitle(first?.title ?? '')}`
}
