import { expect } from 'vitest'
import type { Syncing } from './syncing.ts'

/** One repository, imported; what is changed there then is brought by a second run. */
export async function imported(
  service: Syncing,
  prepare: (repository: Awaited<ReturnType<Syncing['connected']>>['repository']) => void,
) {
  const { project, repository, sync } = await service.connected()
  prepare(repository)
  const first = await sync()
  return {
    project,
    repository,
    sync,
    first,
    task: async (number = 1) => {
      const row = (await service.tasksOf(project.id)).get(number)
      return (await service.get(`/api/tasks/${row.id}`)).body
    },
    patch: async (change: object, number = 1) => {
      const row = (await service.tasksOf(project.id)).get(number)
      const response = await service.patch(`/api/tasks/${row.id}`, change)
      expect(response.status).toBe(200)
      return response.body
    },
  }
}
