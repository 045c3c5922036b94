import type { Operations } from '../../domain/operation.ts'
import { nothingToRetry } from '../../errors/index.ts'
import type { Repositories } from '../../repositories/index.ts'
import type { WrittenTask } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { lockTasks, writableTask } from '../tasks/locks.ts'
import { writtenFor, writtenTask } from '../tasks/view.ts'

export const writeBackOperations = {
  retry: { scope: 'tasks:write' },
} satisfies Operations<ReturnType<typeof writeBackService>>

/** What users do about changes that could not be written to the code host. */
export function writeBackService({ repos }: { repos: Repositories }) {
  return {
    /**
     * Makes the writes of a task due, if they failed or wait for their next attempt: now, unless the last request may still
     * arrive.
     * @throws task_not_found, project_archived, nothing_to_retry
     */
    async retry(caller: Caller, id: string): Promise<WrittenTask> {
      return repos.within(caller).transaction(async (repos) => {
        const task = writableTask(await lockTasks(repos, { ids: [id] }), id)
        if (!(await repos.codehostWrites.retry(task.id))) throw nothingToRetry()
        await repos.codehostWrites.summarize([task.id])
        return writtenFor(caller, await writtenTask(repos, task.id))
      })
    },
  }
}
