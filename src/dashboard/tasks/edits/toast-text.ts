import type { Problem } from '../../api/problem.ts'
import { clockTime } from '../../components/clock-time.ts'
import { isolate } from '../../lib/isolate.ts'
import { fieldName } from '../field-names.ts'
import type { Change } from './bulk.ts'

const MAX_NAMED = 3
const MAX_TITLE = 60

export interface Titled {
  title: string
}

/** The short name of a change for a toast. */
export function changeLabel({ status, closedReason, priority, listId, ...others }: Change) {
  if (closedReason === 'not_planned') return 'Not planned'
  if (status === 'done') return 'Done'
  if (status === 'open') return 'Reopened'
  if (status === 'in_progress') return 'In progress'
  if (priority) return `Priority ${priority}`
  if (listId) return 'Moved'
  if (others.triaged !== undefined) return others.triaged ? 'Accepted' : 'Sent back to Triage'
  if (others.snoozedUntil) return `Snoozed until ${clockTime(others.snoozedUntil)}`
  if (others.snoozedUntil === null) return 'Snooze ended'
  if (others.question === null) return 'Question ended'
  const [first] = Object.entries(others)
  if (!first) return 'Changed'
  const [field, value] = first
  return `${capitalized(fieldName(field))} ${value === null || value === '' ? 'removed' : 'changed'}`
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Truncates a title. */
export function shortTitle(title: string): string {
  const characters = [...title]
  return isolate(characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE).join('')}…` : title)
}

/** The reasons of failures, each with the titles of some tasks. */
export function failuresText(failures: { item: Titled; problem: Problem }[]): string {
  const byReason = Map.groupBy(failures, ({ problem }) => reasonText(problem))
  return [...byReason]
    .map(([reason, group]) => `${reason} (${titlesText(group.map(({ item }) => item))})`)
    .join(' ')
}

/** What is not undone, because it would undo that as well. */
export const changedText = (tasks: Titled[]) => `Changed by someone else since: ${titlesText(tasks)}.`

export const reasonText = (problem: Problem) =>
  problem.code === 'task_not_found' ? 'Deleted, or not visible to your key.' : problem.message

export function titlesText(tasks: Titled[]): string {
  const named = tasks.slice(0, MAX_NAMED).map(({ title }) => `“${shortTitle(title)}”`)
  const others = tasks.length - named.length
  return others > 0 ? `${named.join(', ')} and ${others.toLocaleString()} more` : named.join(', ')
}
