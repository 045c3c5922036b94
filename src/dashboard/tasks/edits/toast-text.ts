import type { Problem } from '../../api/problem.ts'
import type { Change } from './bulk.ts'

/** So many tasks are named; of the others it is enough to know how many. */
const MAX_NAMED = 3
/** So many characters of a title say which task it was. */
const MAX_TITLE = 60

export interface Titled {
  title: string
}

/** What a change does, in as few words as a toast has. */
export function wordsFor({ status, priority, listId, title, labels, assignees, notes, description }: Change) {
  if (status === 'done') return 'Done'
  if (status === 'open') return 'Open again'
  if (status === 'in_progress') return 'In progress'
  if (priority) return `Priority ${priority}`
  if (listId) return 'Moved'
  if (title) return 'Title changed'
  if (labels) return 'Labels changed'
  if (assignees) return 'Assignees changed'
  if (notes !== undefined) return notes ? 'Notes changed' : 'Notes removed'
  if (description !== undefined) return 'Description changed'
  return 'Changed'
}

/** A title as a sentence can hold it. */
export function shortTitle(title: string): string {
  const characters = [...title]
  return characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE).join('')}…` : title
}

/** Why some tasks were left as they are, by reason, with the names of a few. */
export function reasonsFor(failures: { item: Titled; problem: Problem }[]): string {
  const byReason = Map.groupBy(failures, ({ problem }) => reasonOf(problem))
  return [...byReason]
    .map(([reason, alike]) => `${reason} (${namesOf(alike.map(({ item }) => item))})`)
    .join(' ')
}

export const reasonOf = (problem: Problem) =>
  problem.code === 'task_not_found' ? 'Deleted, or not visible to your key.' : problem.message

export function namesOf(tasks: Titled[]): string {
  const named = tasks.slice(0, MAX_NAMED).map(({ title }) => `“${shortTitle(title)}”`)
  const others = tasks.length - named.length
  return others > 0 ? `${named.join(', ')} and ${others.toLocaleString()} more` : named.join(', ')
}
