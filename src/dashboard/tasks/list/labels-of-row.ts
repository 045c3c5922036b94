import type { TaskListItem } from '../../api/queries.ts'

const SENTIMENTS = ['frustrated', 'meh', 'loved']

/**
 * The labels of a row, without those that only repeat its source icon: feedback arrives with its sentiment first, then with
 * what triggered it. What somebody adds comes after them.
 */
export function labelsOfRow({ source, labels }: Pick<TaskListItem, 'source' | 'labels'>): string[] {
  if (source !== 'analytics') return labels
  const [first = ''] = labels
  const others = SENTIMENTS.includes(first) ? labels.slice(2) : labels
  return others.filter((label) => !SENTIMENTS.includes(label))
}
