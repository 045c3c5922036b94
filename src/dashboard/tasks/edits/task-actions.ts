import type { QueryClient } from '@tanstack/react-query'
import { insertTasks, listsContaining } from '../../api/list-positions.ts'
import { isTransient, problemOf } from '../../api/problem.ts'
import { type Task, type TaskFilters, type TaskListItem, taskQuery } from '../../api/queries.ts'
import { toServerTime } from '../../api/server-clock.ts'
import { recordsOf } from '../../api/task-records.ts'
import { stoppableProgress } from '../../components/stoppable-progress.tsx'
import { toast } from '../../components/toast.ts'
import { beginUndoable } from '../../components/undo.tsx'
import type { UndoAction } from '../../components/undo-stack.ts'
import { decided, effectOf } from '../status-choice.ts'
import { type BulkProgress, type BulkResult, batchesOf, type Change, type Failure } from './bulk.ts'
import { failureTitle, showFailures } from './failure-toast.tsx'
import { inTurn } from './in-turn.ts'
import { sendEach } from './send-each.ts'
import { deleteTask, getTask, patchTask, readChanged, restoreTask, sendAll } from './task-requests.ts'
import { changeLabel, failuresText, shortTitle } from './toast-text.ts'
import { undoActionFor } from './undo-action.ts'
import { type Edit, editsOf } from './undo-edits.ts'
import type { AnyTask, NameChange, TaskActions } from './use-task-actions.ts'

interface RestoreOptions {
  label: string
  deletion: Promise<AnyTask[]>
  /** The lists to insert each task into, by task id. */
  lists: Map<string, TaskFilters[]>
}

/** Fewer are changed before a progress could be read. */
const MIN_TASKS_WITH_PROGRESS = 200
/** A person does not cause more conflicts than this; a program may. */
const MAX_ATTEMPTS = 5

interface EachChange {
  tasks: AnyTask[]
  label: string
  changeOf(task: AnyTask): Change
  /** Updates `before` with the tasks that others have changed. */
  send(before: Map<string, AnyTask>, progress?: BulkProgress): Promise<BulkResult<AnyTask>>
  /** Sends it again for tasks that did not reach the service. */
  retry(tasks: AnyTask[]): unknown
}

/** Edits of tasks: optimistic, with undo. Fetched when the page is idle, because the first page needs none. */
export function taskActions(queryClient: QueryClient): Omit<TaskActions, 'toggleDone'> {
  const records = recordsOf(queryClient)

  async function changeEach({ tasks, label, changeOf, send, retry }: EachChange) {
    const edits = Promise.withResolvers<Edit[]>()
    const action = undoActionFor({ queryClient, label: actionLabel(label, tasks), edits: edits.promise })
    const pendingUndo = beginUndoable(action)
    const before = new Map(tasks.map((task) => [task.id, task]))
    const endPreview = records.preview({
      ids: new Set(before.keys()),
      changeOf: (task) => effectOf(changeOf(task)) as Partial<TaskListItem>,
    })
    const isLong = tasks.length >= MIN_TASKS_WITH_PROGRESS
    const progress = isLong ? stoppableProgress('Updating tasks', tasks.length) : undefined
    const { done, failures } = await inTurn(before.keys(), async () => {
      const receive = records.request()
      const result = await send(before, progress)
      receive(result.done)
      return result
    }).finally(() => {
      endPreview()
      progress?.end()
    })
    showFailures({ verb: 'update', failures, count: tasks.length, retry })

    const doneEdits = editsOf({
      before,
      done,
      fields: [...new Set(tasks.flatMap((task) => Object.keys(effectOf(changeOf(task)))))],
    })
    edits.resolve(doneEdits)
    action.label = actionLabel(label, done)
    if (doneEdits.length > 0) pendingUndo.complete()
    else {
      pendingUndo.discard()
      if (done.length > 0) toast.info(action.label)
    }
    return idsOf(failures)
  }

  function change(tasks: AnyTask[], asked: Change): Promise<string[]> {
    const requested = decided(asked, { triaged: tasks.every(({ triaged }) => triaged) })
    const [only, ...others] = tasks
    return changeEach({
      tasks,
      label: changeLabel(asked),
      changeOf: () => requested,
      retry: (unsent) => change(unsent, asked),
      send: (_before, progress) =>
        only && others.length === 0
          ? sendOne(only, () => patchTask({ id: only.id, change: requested }))
          : sendAll(
              batchesOf(tasks, () => requested),
              progress,
            ),
    })
  }

  async function changeNames(tasks: AnyTask[], { field, name, isAdded }: NameChange): Promise<string[]> {
    // To add a name that a task has already decides about it, if it is to be triaged.
    const affected = tasks.filter(
      (task) => task[field].includes(name) !== isAdded || (isAdded && !task.triaged),
    )
    const [only, ...others] = affected
    if (!only) {
      toast.info(nothingToChange({ field, name, isAdded }))
      return []
    }
    const changeOf = (task: AnyTask) => {
      const rest = task[field].filter((other) => other !== name)
      // Keeps the order of names that the task has already.
      const added = task[field].includes(name) ? task[field] : [...rest, name]
      return decided({ [field]: isAdded ? added : rest }, task)
    }
    return changeEach({
      tasks: affected,
      label: `${field === 'labels' ? 'Label' : 'Assignee'} ${name} ${isAdded ? 'added' : 'removed'}`,
      changeOf,
      retry: (unsent) => changeNames(unsent, { field, name, isAdded }),
      send: (before, progress) =>
        others.length === 0
          ? sendOne(only, () => patchNames(only, { changeOf, before }))
          : patchNamesOfMany(affected, { changeOf, before, progress }),
    })
  }

  async function remove(tasks: AnyTask[]): Promise<string[]> {
    const deleted: AnyTask[] = []
    const ids = tasks.map(({ id }) => id)
    const deletion = Promise.withResolvers<AnyTask[]>()
    const lists = listsContaining(queryClient, ids)
    const action = restoreAction({
      label: actionLabel('Deleted', tasks),
      deletion: deletion.promise,
      lists,
    })
    const pendingUndo = beginUndoable(action)
    const failures = await sendEach({
      items: tasks,
      label: 'Deleting tasks',
      async send(task) {
        await deleteTask(task.id)
        deleted.push(task)
      },
    })
    records.removal()(deleted.map(({ id }) => id))
    deletion.resolve(deleted)
    showFailures({ verb: 'delete', failures, count: tasks.length, retry: remove })
    action.label = actionLabel('Deleted', deleted)
    if (deleted.length > 0) pendingUndo.complete()
    else pendingUndo.discard()
    return idsOf(failures)
  }

  /** Restores tasks and inserts them into every list that contained them. */
  function restoreAction({ label, deletion, lists }: RestoreOptions): UndoAction {
    return {
      label,
      async undo() {
        const deleted = await deletion
        if (deleted.length === 0) return { isEmpty: true }
        const failures = await sendEach({
          items: deleted,
          label: 'Restoring tasks',
          async send({ id }) {
            const receive = records.request()
            const task = await restoreTask(id)
            receive([task])
            queryClient.setQueryData(taskQuery(id).queryKey, task)
            for (const filters of lists.get(id) ?? []) insertTasks(queryClient, { filters, ids: [id] })
          },
        })
        if (failures.length === 0) return {}
        const remaining = failures.filter(({ problem }) => isTransient(problem)).map(({ item }) => item)
        return {
          failure: `${failureTitle('restore', { failures, count: deleted.length })}. ${failuresText(failures)}`,
          ...(remaining.length > 0 && {
            remaining: restoreAction({ label, deletion: Promise.resolve(remaining), lists }),
          }),
        }
      },
    }
  }

  return { change, changeNames, remove }
}

async function sendOne(task: AnyTask, send: () => Promise<Task>): Promise<BulkResult<AnyTask>> {
  const done: Task[] = []
  const failures = await sendEach({ items: [task], send: async () => void done.push(await send()) })
  return { done, failures }
}

interface NamePatch {
  changeOf(task: AnyTask): Change
  /** Updated with the tasks that others have changed. */
  before: Map<string, AnyTask>
}

/** The API replaces all labels or assignees, so a version check guards those that others have changed. */
async function patchNames(task: AnyTask, { changeOf, before }: NamePatch): Promise<Task> {
  let current = task
  for (let attempt = 1; ; attempt++) {
    try {
      return await patchTask({ id: current.id, change: changeOf(current), version: current.version })
    } catch (error) {
      if (problemOf(error).status !== 412 || attempt === MAX_ATTEMPTS) throw error
      current = await getTask(task.id)
      before.set(current.id, current)
    }
  }
}

/** Bulk requests have no version check, so tasks changed by others are read first. */
async function patchNamesOfMany(
  tasks: AnyTask[],
  { changeOf, before, progress }: NamePatch & { progress: BulkProgress | undefined },
): Promise<BulkResult<AnyTask>> {
  try {
    const loadedAt = new Date(toServerTime(performance.timeOrigin)).toISOString()
    const changed = await readChanged(
      tasks.map(({ id }) => id),
      loadedAt,
    )
    const now = tasks.map((task) => changed.get(task.id) ?? task)
    for (const task of now) before.set(task.id, task)
    return await sendAll(batchesOf(now, changeOf), progress)
  } catch (error) {
    const problem = problemOf(error)
    return { done: [], failures: tasks.map((item) => ({ item, problem })) }
  }
}

function nothingToChange({ field, name, isAdded }: NameChange): string {
  const noun = field === 'labels' ? 'label' : 'assignee'
  return isAdded
    ? `All selected tasks already have the ${noun} ${name}`
    : `No selected task has the ${noun} ${name}`
}

const idsOf = (failures: Failure<AnyTask>[]) => failures.map(({ item }) => item.id)

function actionLabel(label: string, [first, ...others]: AnyTask[]): string {
  if (others.length > 0) return `${(others.length + 1).toLocaleString()} tasks: ${label}.`
  return `${label}: ${shortTitle(first?.title ?? '')}`
}
