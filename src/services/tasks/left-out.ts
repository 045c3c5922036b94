import type { BoundedTaskRow } from '../../repositories/bounded-tasks.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { WrittenTask } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { mayReadTasks, toTask, writtenFor } from './view.ts'

/** A task as a write of many returns it. */
export interface WrittenItem {
  task: WrittenTask
  /** True if its long fields are still to be read, because those of the tasks before it are as much as memory allows. */
  isLeftOut: boolean
}

/** Maximum number of left-out tasks requested at once; how many are read depends on their size. */
export const READ_BATCH = 20

export const toWrittenItem = (caller: Caller, row: TaskRow | BoundedTaskRow): WrittenItem => ({
  task: writtenFor(caller, toTask(row)),
  isLeftOut: 'isLeftOut' in row && row.isLeftOut && mayReadTasks(caller),
})

/**
 * Returns the tasks with all fields. Those that were left out are read a few at a time, as they are now, also if they
 * were deleted since.
 */
export async function* wholeTasks(
  { tasks }: BoundRepositories,
  items: WrittenItem[],
): AsyncGenerator<WrittenTask> {
  let portion = new Map<string, WrittenTask>()
  for (const [index, { task, isLeftOut }] of items.entries()) {
    if (isLeftOut && !portion.has(task.id)) {
      const next = items.slice(index).filter((item) => item.isLeftOut)
      portion = await readPortion(next.map(({ task }) => task.id))
    }
    const whole = isLeftOut ? portion.get(task.id) : task
    if (!whole) throw new Error(`Task ${task.id} was removed while it was sent.`)
    yield whole
  }

  async function readPortion(ids: string[]): Promise<Map<string, WrittenTask>> {
    const some = [...new Set(ids)].slice(0, READ_BATCH)
    const rows = await tasks.listByIds(some, { deleted: 'included' })
    return new Map(rows.filter(({ isLeftOut }) => !isLeftOut).map((row) => [row.id, toTask(row)]))
  }
}
