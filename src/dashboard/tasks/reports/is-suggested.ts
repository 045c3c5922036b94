import type { TaskListItem } from '../../api/queries.ts'

/** Whether similar tasks are shown: of what was reported, until it is done. */
export const isSuggested = ({ source, status }: Pick<TaskListItem, 'source' | 'status'>) =>
  (source === 'analytics' || source === 'webhook') && status !== 'done'
