import { openDatabase } from '../../src/db/pool.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { repositories } from '../../src/repositories/index.ts'
import type { Caller } from '../../src/services/access.ts'
import { listsService } from '../../src/services/lists.ts'
import { projectsService } from '../../src/services/projects.ts'
import type { TestApp } from './app.ts'

export const deletingCaller: Caller = {
  type: 'key',
  id: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081',
  keyId: '019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081',
  name: 'the deleter',
  scopes: ['admin'],
  projectIds: null,
  expiresAt: null,
}

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
