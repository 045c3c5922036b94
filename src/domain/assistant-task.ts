import { without } from '../lib/without.ts'
import type { Task, WrittenTask } from '../schemas/task.ts'
import type { AssistantComment } from '../schemas/tool-results.ts'
import { BYTES_OF_TOKEN } from './context-budget.ts'
import { cutText, fencedMembers, inertBytes, inertJson } from './untrusted.ts'

/** The texts of a task, which can be longer than an assistant has room for. */
interface LongMembers extends Related {
  description?: string
  notes?: string
}

/** What is related to a task. */
export interface Related {
  /** Oldest first. */
  comments?: AssistantComment[]
  latestReports?: object[]
  similar?: object[]
}

/** What assistants never get, or what is of no use for them. */
const OMITTED = ['metadata', 'sourceId', 'writeBack', 'noteKey'] as const satisfies readonly (keyof Task)[]

/** A task as the tools return it, at least its ID and version. */
export type AssistantTask = Pick<Task, 'id' | 'version'> & {
  [Name in Exclude<keyof Task, (typeof OMITTED)[number]>]?: NonNullable<Task[Name]>
}

/** A task without the members that say nothing, of which most tasks have a dozen. Cast: null is omitted. */
export const assistantTask = (task: WrittenTask) =>
  Object.fromEntries(
    Object.entries(without(task, OMITTED)).filter(([, value]) => !saysNothing(value)),
  ) as AssistantTask

const saysNothing = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)

/**
 * Fits a task into a token budget, which its JSON and its text must each meet. Long texts and lists share what the other
 * members leave; `cut` names those of which a part is missing. The other members alone can exceed a tiny budget.
 */
export function taskWithinBudget<T extends LongMembers>(
  task: T,
  budgetTokens: number,
): T & { cut?: string[] } {
  const long = LONG_MEMBERS.filter((name) => task[name] !== undefined)
  const short = without(task, long)
  const room = budgetTokens * BYTES_OF_TOKEN - headBytes(short)
  // Nothing is measured if it fits in any case: a text that has to be escaped takes 6 ms.
  if (long.reduce((sum, name) => sum + maxBytes(name, task[name]), 0) <= room) return task
  const needs = long.map((name) => need(name, { value: task[name], room }))
  if (needs.reduce((sum, need) => sum + need, 0) <= room) return task
  const share = maxShare(needs, room - lineBytes('cut', long))
  const cut = long.filter((_, index) => (needs[index] ?? 0) > share)
  const fitting = long.flatMap((name) => {
    const value = cut.includes(name) ? fitted(task, { name, maxBytes: share }) : task[name]
    return value === undefined ? [] : [[name, value]]
  })
  // Cast: each long member is omitted, or has the same type.
  return { ...short, ...Object.fromEntries(fitting), cut } as T & { cut: string[] }
}

const LONG_MEMBERS = [
  'description',
  'notes',
  'comments',
  'latestReports',
  'similar',
] as const satisfies readonly (keyof LongMembers)[]

/** A unit of UTF-16 has at most the seven bytes of its escape in JSON. */
const maxBytes = (name: string, value: unknown) => 7 * (JSON.stringify({ [name]: value }).length + 1)

/** A text that is too long anyway isn't measured. */
const need = (name: string, { value, room }: { value: unknown; room: number }) =>
  typeof value === 'string' && value.length > room ? room + 1 : lineBytes(name, value)

/** What each may have at most, so that all have no more than the total: what short ones leave goes to the others. */
function maxShare(needs: number[], total: number): number {
  let [share, left] = [0, total]
  for (const [served, need] of needs.toSorted((a, b) => a - b).entries()) {
    share = Math.floor(left / (needs.length - served))
    if (need > share) break
    left -= need
  }
  return share
}

/** As `fencedMembers` writes it. */
const lineBytes = (name: string, value: unknown) => Buffer.byteLength(`${inertJson({ [name]: value })}\n`)

/** The first line of a result is short. */
const SUMMARY_BYTES = 200
const headBytes = (short: object) => {
  const lines = [...fencedMembers(short)]
  return SUMMARY_BYTES + lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
}

/** As much of a member as fits; undefined if that is nothing. */
function fitted(task: LongMembers, { name, maxBytes }: { name: keyof LongMembers; maxBytes: number }) {
  if (name === 'comments') return fittedComments(task.comments ?? [], maxBytes)
  const value = task[name]
  if (typeof value === 'string') return beginning(value, maxBytes - lineBytes(name, ''))
  const items = [...(value ?? [])]
  while (items.length > 0 && lineBytes(name, items) > maxBytes) items.pop()
  return items.length > 0 ? items : undefined
}

/** The latest comments, or the beginning of the last one. */
function fittedComments(comments: AssistantComment[], maxBytes: number): AssistantComment[] | undefined {
  const bytesOf = (items: AssistantComment[]) => lineBytes('comments', items)
  const first = comments.findIndex((_, index) => bytesOf(comments.slice(index)) <= maxBytes)
  if (first !== -1) return comments.slice(first)
  return comments.slice(-1).flatMap((last) => {
    const body = beginning(last.body, maxBytes - bytesOf([{ ...last, body: '', isCut: true }]))
    return body === undefined ? [] : [{ ...last, body, isCut: true }]
  })
}

const beginning = (text: string, maxSize: number) =>
  maxSize < MIN_BYTES ? undefined : cutText(text, { maxSize, sizeOf: inertBytes })

/** Less of a text says nothing. */
const MIN_BYTES = 20
