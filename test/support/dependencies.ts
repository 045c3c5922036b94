import type { ApiResponse, TestApp } from './app.ts'

/** What tests of dependencies do, with tasks in a project of their own. */
export const depending = (service: TestApp) => ({
  isReady: async (id: string) => (await service.task(id)).isReady,

  /** Sets what blocks a task. */
  block: (id: string, blockedBy: string[], options = {}) =>
    service.patch(`/api/tasks/${id}`, { blockedBy }, options),

  async tasks(count: number) {
    const project = await service.given.project()
    const ids: string[] = []
    for (let n = 0; n < count; n++)
      ids.push((await service.given.task(project.inbox, { source: 'api', title: `Task ${n}` })).id)
    return { project, inbox: project.inbox, ids: ids as [string, string, string, ...string[]] }
  },
})

/** The errors of a refusal: its status, its code, and path and code of each. */
export const errorsOf = ({ status, body }: ApiResponse) => [
  status,
  body.code,
  ...(body.errors ?? []).map(({ path, code }: { path: string; code: string }) => `${path} ${code}`),
]
