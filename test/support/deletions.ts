import { openDatabase } from '../../src/db/pool.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { repositories } from '../../src/repositories/index.ts'
import { listsService } from '../../src/services/lists.ts'
import { projectsService } from '../../src/services/projects.ts'
import type { TestApp } from './app.ts'
import { callerWith } from './caller.ts'

export const deletingCaller = callerWith({ name: 'the deleter' })

/** Services that leave every large deletion to the worker, on connections of their own. */
export function deletionsInWorker({ connectionString }: Pick<TestApp, 'connectionString'>) {
  const db = openDatabase({ connectionString, size: 4, onError: () => {} })
  const deps = { repos: repositories(db), clock: systemClock(), deletionMs: 0 }
  return {
    lists: () => listsService(deps),
    projects: () => projectsService(deps),
    close: () => db.$client.end(),
  }
}
