import type { CreateQuery, NewTaskInBulk, TaskChange } from '../schemas/task-requests.ts'
import type { StoredTask } from './task.ts'

/** What a create does with a task that has its externalId already. */
export type WhenExisting = { [name in keyof CreateQuery]: CreateQuery[name] | undefined }

/** What an input changes of an existing task. */
export type ChangeOf = (task: Pick<StoredTask, 'status' | 'mergedInto'>, input: NewTaskInBulk) => TaskChange

/** Undefined if existing tasks stay as they are. `more` is changed, too. A merged task keeps its status. */
export function changeWhenExisting(
  { onExisting, reopen }: WhenExisting,
  more: TaskChange = {},
): ChangeOf | undefined {
  if (onExisting !== 'update') return undefined
  const { status: statusToSet, ...others } = more
  return ({ status, mergedInto }, { externalId: _, source: __, ...sent }) => ({
    ...sent,
    ...others,
    ...(mergedInto === null && {
      ...(statusToSet && { status: statusToSet }),
      ...(reopen && status === 'done' && { status: 'open' as const }),
    }),
  })
}
