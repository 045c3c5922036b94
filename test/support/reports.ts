import type { CallOptions, TestApp } from './app.ts'

/** Merges tasks, and reads the reports of one. */
export const reportsOn = (service: () => TestApp) => ({
  merge: (id: string, into: string, options?: CallOptions) =>
    service().post(`/api/tasks/${id}/merge`, { into }, options),
  unmerge: (id: string, options?: CallOptions) =>
    service().post(`/api/tasks/${id}/unmerge`, undefined, options),
  reportsOf: async (id: string, query = '') => (await service().get(`/api/tasks/${id}/reports${query}`)).body,
  /** Tasks of a project of their own. */
  async givenTasks(count = 2, values: object = {}) {
    const { given } = service()
    const project = await given.project()
    const tasks = []
    for (let n = 0; n < count; n++)
      tasks.push(await given.task(project.inbox, { title: `Task ${n}`, ...values }))
    return { project, ids: tasks.map(({ id }) => id) as [string, string, ...string[]] }
  },
})

export const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id)
