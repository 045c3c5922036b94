import { isTransient, type Problem, problemOf } from '../../api/problem.ts'
import { fieldName } from '../field-names.ts'
import { DECISIONS } from '../status-choice.ts'
import { type Batch, type BulkResult, batchesOf, type Change, type Failure, type Task } from './bulk.ts'
import { changedText, failuresText, reasonText, titlesText } from './toast-text.ts'

type Fields = Partial<Task>

/** A comment changes neither the fields of a task nor its version. */
type Current = Fields & { isCommentedOn?: boolean }

/** A change of one task: the field values before and after. */
export interface Edit {
  id: string
  title: string
  version: number
  updatedAt: string
  before: Fields
  after: Fields
  /** What was decided about the task by then. */
  decisions: Fields
}

export interface UndoIo {
  /** Those of these tasks that may have changed since a time, without deleted ones. */
  readChanged(ids: string[], since: string): Promise<Map<string, Fields>>
  /** Those of these tasks that somebody has decided about by a comment since a time. */
  readCommented(ids: string[], since: string): Promise<Set<string>>
  get(id: string): Promise<Task>
  /** @throws Problem 412 when the task has another version by now. */
  patch(patch: { id: string; change: Change; version: number }): Promise<Task>
  sendBatches(batches: Batch<Edit>[]): Promise<BulkResult<Edit>>
}

export interface UndoEditsResult {
  undone: Task[]
  failures: Failure<Edit>[]
  /** Not undone, because someone changed the same fields since. */
  changed: Edit[]
  /** Undone, apart from what took it out of Triage, because that was decided again since. */
  kept: Edit[]
}

interface ChangedTasks {
  /** By id. */
  before: ReadonlyMap<string, Fields>
  /** As the service returned them. */
  done: Task[]
  fields: string[]
}

/** The edits of a change. Unchanged fields are omitted. */
export function editsOf({ before, done, fields }: ChangedTasks): Edit[] {
  return done.flatMap((task) => {
    const seen = before.get(task.id)
    const changed = (fields as (keyof Task)[]).filter((name) => seen && !isSame(seen[name], task[name]))
    if (!seen || changed.length === 0) return []
    const { id, title, version, updatedAt } = task
    return {
      id,
      title,
      version,
      updatedAt,
      before: pick(seen, changed),
      after: pick(task, changed),
      decisions: pick(task, DECISIONS),
    }
  })
}

/**
 * The change that reverses an edit on the current task; of labels and assignees only what the edit added or
 * removed. Undefined when another change came on top.
 */
export function reverseOf(edit: Edit, current: Current): Change | undefined {
  const { before, after } = edit
  const change: Fields = {}
  const names = Object.keys(after) as (keyof Task)[]
  // It stays triaged when someone else has decided since.
  const reversed = isDecidedSince(edit, current) ? names.filter((name) => name !== 'triaged') : names
  if (reversed.length === 0) return undefined
  for (const name of reversed) {
    const [was, made, is] = [before[name], after[name], current[name]]
    if (isSame(is, was)) continue
    if (isSame(is, made)) Object.assign(change, { [name]: was })
    else if (isNames(was) && isNames(made) && isNames(is))
      Object.assign(change, { [name]: namesWithout({ was, made, is }) })
    else return undefined
  }
  return toChange(change)
}

/** Whether somebody has decided about a task that the edit took out of Triage. */
const isDecidedSince = ({ after, decisions }: Edit, { isCommentedOn = false, ...current }: Current) =>
  after.triaged === true &&
  (isCommentedOn ||
    DECISIONS.some(
      (name) => !(name in after) && !isSame({ ...decisions, ...current }[name], decisions[name]),
    ))

const staysTriaged = (edit: Edit, current: Current) =>
  isDecidedSince(edit, current) && current.triaged !== false

/** The API takes of a question only its comment. */
function toChange({ question, ...change }: Fields): Change {
  if (question === undefined) return withReason(change)
  return withReason({ ...change, question: question && { commentId: question.commentId } })
}

type Reversal = Omit<Fields, 'question'> & Pick<Change, 'question'>

/** The API takes a reason only with the status done, and nothing clears it but a reopening. No reason means completed. */
function withReason({ closedReason, ...change }: Reversal): Change {
  const isDone = (change.status ?? 'done') === 'done'
  const isNotPlanned = closedReason === 'not_planned'
  // A completion needs no reason, and the code host may own it.
  if (closedReason === undefined || !isDone || (change.status && !isNotPlanned)) return change as Change
  return { ...change, status: 'done', closedReason: isNotPlanned ? 'not_planned' : 'completed' } as Change
}

/** Undoes one task with a version check, several with as few requests as possible. */
export function undoEdits(edits: Edit[], io: UndoIo): Promise<UndoEditsResult> {
  const [first, ...others] = edits
  if (!first) return Promise.resolve(NOTHING)
  return others.length === 0 ? undoOne(first, io) : undoMany(edits, io)
}

async function undoOne(edit: Edit, io: UndoIo): Promise<UndoEditsResult> {
  let current: Current & { version: number } = { ...edit.after, version: edit.version }
  // A comment decides about a task, and leaves its version as it is.
  let isRead = edit.after.triaged !== true
  // A person does not cause more conflicts than this; a program may.
  for (let attempt = 1; ; attempt++) {
    try {
      if (!isRead) current = await readOne(edit, io)
      const change = reverseOf(edit, current)
      if (!change) return { ...NOTHING, changed: [edit] }
      const isChange = Object.keys(change).length > 0
      const undone = isChange ? [await io.patch({ id: edit.id, change, version: current.version })] : []
      return { ...NOTHING, undone, kept: staysTriaged(edit, current) ? [edit] : [] }
    } catch (error) {
      const problem = problemOf(error)
      if (problem.status !== 412 || attempt === 5) return failed([edit], problem)
      isRead = false
    }
  }
}

async function readOne(edit: Edit, io: UndoIo): Promise<Task & Current> {
  const [task, commented] = await Promise.all([io.get(edit.id), readCommented([edit], io)])
  return { ...task, isCommentedOn: commented.has(edit.id) }
}

/** Comments matter only to what the edits took out of Triage. */
async function readCommented(edits: Edit[], io: UndoIo): Promise<Set<string>> {
  const triaged = edits.filter(({ after }) => after.triaged === true)
  return triaged.length > 0 ? io.readCommented(idsOf(triaged), startOf(triaged)) : new Set()
}

async function undoMany(edits: Edit[], io: UndoIo): Promise<UndoEditsResult> {
  let current: Map<string, Fields>
  let commented: Set<string>
  try {
    ;[current, commented] = await Promise.all([
      io.readChanged(idsOf(edits), startOf(edits)),
      readCommented(edits, io),
    ])
  } catch (error) {
    return failed(edits, problemOf(error))
  }
  const currentOf = ({ id, after }: Edit) => ({
    ...(current.get(id) ?? after),
    isCommentedOn: commented.has(id),
  })
  const changes = new Map(edits.map((edit) => [edit, reverseOf(edit, currentOf(edit))]))
  const changed = edits.filter((edit) => !changes.get(edit))
  const rest = edits.filter((edit) => Object.keys(changes.get(edit) ?? {}).length > 0)
  const { done, failures } = await io.sendBatches(batchesOf(rest, (edit) => changes.get(edit) ?? {}))
  const failedEdits = new Set(failures.map(({ item }) => item))
  const kept = edits.filter(
    (edit) => changes.get(edit) && !failedEdits.has(edit) && staysTriaged(edit, currentOf(edit)),
  )
  return { undone: done, failures, changed, kept }
}

const idsOf = (edits: Edit[]) => edits.map(({ id }) => id)

const startOf = (edits: Edit[]) =>
  edits.map(({ updatedAt }) => updatedAt).reduce((one, other) => (one < other ? one : other))

const NOTHING: UndoEditsResult = { undone: [], failures: [], changed: [], kept: [] }

const failed = (edits: Edit[], problem: Problem): UndoEditsResult => ({
  ...NOTHING,
  failures: edits.map((item) => ({ item, problem })),
})

/** Describes what was not undone; undefined when all of it was. */
export function undoFailureText(count: number, { failures, changed }: UndoEditsResult): string | undefined {
  const failedCount = failures.length + changed.length
  if (failedCount === 0) return undefined
  const [only] = changed
  if (count === 1)
    return only ? onlyChangedText(only) : failures.map(({ problem }) => reasonText(problem)).join()
  return [
    `${(count - failedCount).toLocaleString()} of ${count.toLocaleString()} tasks undone.`,
    changed.length > 0 && changedText(changed),
    failures.length > 0 && failuresText(failures),
  ]
    .filter(Boolean)
    .join(' ')
}

/** The edits that failed with a transient problem. */
export const retryable = ({ failures }: UndoEditsResult) =>
  failures.filter(({ problem }) => isTransient(problem)).map(({ item }) => item)

/** A change of other fields implies the triage. */
function onlyChangedText({ after: { triaged: _, ...fields } }: Edit): string {
  const names = Object.keys(fields)
  if (names.length === 0) return 'It was changed or commented on since.'
  return `Someone else has changed ${names.map((name) => `the ${fieldName(name)}`).join(' and ')} since.`
}

/** Describes what an undo that succeeded has left; undefined when it has left nothing. */
export function keptText(count: number, { kept }: UndoEditsResult): string | undefined {
  if (kept.length === 0) return undefined
  const since = 'changed or commented on since'
  return count === 1
    ? `It stays out of Triage, because it was ${since}.`
    : `Not back in Triage, because they were ${since}: ${titlesText(kept)}.`
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const isNames = (value: unknown): value is string[] => Array.isArray(value)

interface NameLists {
  was: string[]
  made: string[]
  is: string[]
}

function namesWithout({ was, made, is }: NameLists): string[] {
  const kept = is.filter((name) => was.includes(name) || !made.includes(name))
  return [...kept, ...was.filter((name) => !made.includes(name) && !is.includes(name))]
}

const pick = (task: Fields, names: readonly (keyof Task)[]): Fields =>
  Object.fromEntries(names.map((name) => [name, task[name]]))
