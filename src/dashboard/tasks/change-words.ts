import type { Change } from './bulk.ts'

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
