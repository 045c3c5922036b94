import { isPassing, type Problem, problemOf } from '../../api/problem.ts'
import { type Batch, batchesOf, type Change, type Failure, type Sent, type Task } from './bulk.ts'
import { namesOf, reasonOf, reasonsFor } from './toast-text.ts'

type Fields = Partial<Task>

/** What a change made of one task: what its fields held before, and what they held then. */
export interface Edit {
  id: string
  title: string
  version: number
  updatedAt: string
  before: Fields
  after: Fields
}

export interface UndoIo {
  /** The tasks that changed since, as far as they are there. */
  changedSince(time: string, count: number): Promise<Map<string, Fields>>
  get(id: string): Promise<Task>
  /** @throws Problem 412 when the task has another version by now. */
  patch(id: string, change: Change, version: number): Promise<Task>
  sendBatches(batches: Batch<Edit>[]): Promise<Sent<Edit>>
}

export interface UndoneEdits {
  undone: Task[]
  /** What was not undone, and why. */
  kept: Failure<Edit>[]
  /** What was not undone because it was changed since. */
  changed: Edit[]
}

/** What was changed, of tasks as they were seen before and as the service returned them; unchanged ones are left out. */
export function editsOf(before: ReadonlyMap<string, Fields>, done: Task[], fields: string[]): Edit[] {
  return done.flatMap((task) => {
    const seen = before.get(task.id)
    const changed = (fields as (keyof Task)[]).filter((name) => seen && !isSame(seen[name], task[name]))
    if (!seen || changed.length === 0) return []
    const { id, title, version, updatedAt } = task
    return { id, title, version, updatedAt, before: pick(seen, changed), after: pick(task, changed) }
  })
}

/**
 * What takes an edit back on a task as it is now: each field as it was before, of labels and assignees only what the
 * edit added or removed. Undefined where another change came on top, which stays.
 */
export function reverseOf({ before, after }: Edit, now: Fields): Change | undefined {
  const change: Fields = {}
  for (const name of Object.keys(after) as (keyof Task)[]) {
    const [was, made, is] = [before[name], after[name], now[name]]
    if (isSame(is, was)) continue
    if (isSame(is, made)) Object.assign(change, { [name]: was })
    else if (isNames(was) && isNames(made) && isNames(is))
      Object.assign(change, { [name]: namesWithout(was, made, is) })
    else return undefined
  }
  return change as Change
}

/** Undoes what can still be undone: one task guarded by its version, many in as few requests as they take. */
export function undoEdits(edits: Edit[], io: UndoIo): Promise<UndoneEdits> {
  const [first, ...others] = edits
  return first && others.length === 0 ? undoOne(first, io) : undoMany(edits, io)
}

async function undoOne(edit: Edit, io: UndoIo): Promise<UndoneEdits> {
  let now: Fields & { version: number } = { ...edit.after, version: edit.version }
  // Whoever writes a task this often at once is a machine.
  for (let attempt = 1; ; attempt++) {
    const change = reverseOf(edit, now)
    if (!change) return { undone: [], kept: [], changed: [edit] }
    try {
      return { undone: [await io.patch(edit.id, change, now.version)], kept: [], changed: [] }
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status !== 412 || attempt === 5) return failed([edit], problem)
    }
    try {
      now = await io.get(edit.id)
    } catch (error) {
      return failed([edit], problemOf(error))
    }
  }
}

async function undoMany(edits: Edit[], io: UndoIo): Promise<UndoneEdits> {
  const since = edits.map(({ updatedAt }) => updatedAt).reduce((one, other) => (one < other ? one : other))
  let now: Map<string, Fields>
  try {
    now = await io.changedSince(since, edits.length)
  } catch (error) {
    return failed(edits, problemOf(error))
  }
  const changes = new Map(edits.map((edit) => [edit, reverseOf(edit, now.get(edit.id) ?? edit.after)]))
  const changed = edits.filter((edit) => !changes.get(edit))
  const rest = edits.filter((edit) => Object.keys(changes.get(edit) ?? {}).length > 0)
  const { done, failures } = await io.sendBatches(batchesOf(rest, (edit) => changes.get(edit) ?? {}))
  return { undone: done, kept: failures, changed }
}

const failed = (edits: Edit[], problem: Problem): UndoneEdits => ({
  undone: [],
  kept: edits.map((item) => ({ item, problem })),
  changed: [],
})

/** What was not undone and why, in words; undefined when all of it was. */
export function notUndone(count: number, { kept, changed }: UndoneEdits): string | undefined {
  const left = kept.length + changed.length
  if (left === 0) return undefined
  const [only] = changed
  if (count === 1)
    return only
      ? `Someone changed ${fieldsOf(only)} since.`
      : kept.map(({ problem }) => reasonOf(problem)).join()
  return [
    `${(count - left).toLocaleString()} of ${count.toLocaleString()} tasks undone.`,
    changed.length > 0 && `Changed since, and left as they are: ${namesOf(changed)}.`,
    kept.length > 0 && reasonsFor(kept),
  ]
    .filter(Boolean)
    .join(' ')
}

/** The edits that may still be undone later. */
export const retryable = ({ kept }: UndoneEdits) =>
  kept.filter(({ problem }) => isPassing(problem)).map(({ item }) => item)

const fieldsOf = ({ after }: Edit) =>
  Object.keys(after)
    .map((name) => `the ${name === 'listId' ? 'list' : name}`)
    .join(' and ')

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const isNames = (value: unknown): value is string[] => Array.isArray(value)

function namesWithout(was: string[], made: string[], is: string[]): string[] {
  const kept = is.filter((name) => was.includes(name) || !made.includes(name))
  return [...kept, ...was.filter((name) => !made.includes(name) && !is.includes(name))]
}

const pick = (task: Fields, names: (keyof Task)[]): Fields =>
  Object.fromEntries(names.map((name) => [name, task[name]]))
