import type { QueryClient } from '@tanstack/react-query'
import type { Schema } from './client.ts'

type Task = Schema<'Task'>
type TaskListItem = Schema<'TaskListItem'>
type Fields = Partial<TaskListItem>

/** A change that the stream reported. */
interface Report {
  change: Fields
  changedAt: string
  /** When it was received. */
  receivedAt: number
}

interface TaskRecord {
  /** The newest known. */
  row: TaskListItem
  /** When the request for `row` began. */
  asOf: number
  /** The newest known with long texts, which may be older than `row`: the version of its texts is its own. */
  full: Task | undefined
  /** Not in `row` yet. */
  reports: Report[]
  shown: { row: TaskListItem; full: Task | undefined } | undefined
}

interface Preview {
  ids: ReadonlySet<string>
  changeOf(task: TaskListItem | Task): Fields
}

export type TaskRecords = ReturnType<typeof createTaskRecords>

const recordsByClient = new WeakMap<QueryClient, TaskRecords>()

/** What the page knows of each task. Lists have only IDs. */
export function recordsOf(queryClient: QueryClient): TaskRecords {
  const records = recordsByClient.get(queryClient) ?? createTaskRecords()
  recordsByClient.set(queryClient, records)
  return records
}

/**
 * One record for each task: the newest response, which only the same or a newer version replaces. What is shown is this
 * record, then the changes reported since, then the changes that are being saved. Each of them ends on its own.
 */
function createTaskRecords() {
  const records = new Map<string, TaskRecord>()
  const previews = new Set<Preview>()
  /** When each was found to be deleted: the response of a request that began before says nothing about it. */
  const removedAt = new Map<string, number>()
  const listeners = new Set<() => void>()
  /** Counts what happens: requests that begin, and what is reported. */
  let now = 0
  let revision = 0

  function changed(ids: Iterable<string>) {
    for (const id of ids) {
      const record = records.get(id)
      if (record) record.shown = undefined
    }
    revision++
    for (const listener of listeners) listener()
  }

  function receive(task: Task | TaskListItem, began: number) {
    const removed = removedAt.get(task.id)
    if (removed !== undefined && began < removed) return
    removedAt.delete(task.id)
    const old = records.get(task.id)
    const isCurrent =
      !old ||
      task.version > old.row.version ||
      // Some fields change without a version, such as `isReady`.
      (task.version === old.row.version && began >= old.asOf)
    const isFull = 'metadata' in task && (!old?.full || task.version >= old.full.version)
    const row = isCurrent ? task : old.row
    records.set(task.id, {
      row,
      asOf: isCurrent ? began : old.asOf,
      full: isFull ? (task as Task) : old?.full,
      reports: (old?.reports ?? []).filter(
        ({ receivedAt, changedAt }) => !isCurrent || (began < receivedAt && task.updatedAt < changedAt),
      ),
      shown: undefined,
    })
  }

  function shown(id: string) {
    const record = records.get(id)
    if (!record || removedAt.has(id)) return undefined
    record.shown ??= { row: withChanges(record.row), full: record.full && withChanges(fullOf(record)) }
    return record.shown
  }

  function withChanges<T extends TaskListItem | Task>(task: T): T {
    const { reports } = records.get(task.id) as TaskRecord
    let result = task
    for (const { change } of reports) result = { ...result, ...change }
    for (const { ids, changeOf } of previews)
      if (ids.has(task.id)) result = { ...result, ...changeOf(result) }
    return result
  }

  return {
    /** Call it when a request begins, and the function that it returns with the tasks of the response. */
    request() {
      const began = ++now
      return (tasks: (Task | TaskListItem)[]) => {
        for (const task of tasks) receive(task, began)
        changed(tasks.map(({ id }) => id))
      }
    },
    row: (id: string) => shown(id)?.row,
    /** Undefined until it was loaded with its long texts. */
    full: (id: string) => shown(id)?.full,
    /** Shows a reported change until a response has it. */
    report({ id, changedAt, change }: { id: string; changedAt: string; change: Fields }) {
      const record = records.get(id)
      if (!record || record.row.updatedAt >= changedAt) return
      record.reports.push({ change, changedAt, receivedAt: ++now })
      changed([id])
    },
    /** Shows a change that is being saved. Returns a function that ends it, whatever else has happened since. */
    preview(preview: Preview): () => void {
      previews.add(preview)
      changed(preview.ids)
      return () => {
        previews.delete(preview)
        changed(preview.ids)
      }
    },
    isBeingSaved: (id: string) => [...previews].some(({ ids }) => ids.has(id)),
    /** For deletions that a request told of: call it when the request begins. */
    removal() {
      const began = ++now
      return (ids: string[]) => {
        for (const id of ids) if ((records.get(id)?.asOf ?? 0) <= began) removedAt.set(id, began)
        changed(ids)
      }
    },
    /** Until the next response that has it. */
    forget(id: string) {
      records.delete(id)
      changed([id])
    },
    /** Forgets all others. */
    keep(ids: ReadonlySet<string>) {
      const isKept = (id: string) => ids.has(id) || this.isBeingSaved(id)
      for (const id of records.keys()) if (!isKept(id)) records.delete(id)
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Another number after each change. */
    revision: () => revision,
  }
}

/** The fields of the row, which are as new or newer, with the version of the long texts: it guards them. */
const fullOf = ({ row, full }: TaskRecord): Task => ({ ...full, ...row, version: full?.version }) as Task
