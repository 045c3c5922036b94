import type { TestApp } from './app.ts'

/** What tests of claims do, with tasks in a project of their own. */
export const claiming = (service: TestApp) => ({
  /** A project, and a key that claims its tasks. */
  async project(values: object = {}) {
    const { inbox, ...project } = await service.given.project(values)
    const key = await service.given.key({ name: 'worker', scopes: ['tasks:read', 'tasks:write'] })
    const task = (values: object = {}) => service.given.task(inbox, values as never)
    const next = (filter: object = {}, options: object = {}) =>
      service.post('/api/tasks/claim', { projectId: project.id, ...filter }, { key, ...options })
    const claim = (id: string, options: object = {}) =>
      service.post(`/api/tasks/${id}/claim`, undefined, { key, ...options })
    /** A claimed task. */
    const claimed = async (values: object = {}) => (await claim((await task(values)).id)).body
    return { ...project, inbox, key, task, next, claim, claimed }
  },

  /** Ends the lease of a claim, by the clock of the database. */
  async expire(id: string) {
    await service.query(
      "update tasks set claim_expires_at = clock_timestamp() - interval '1 millisecond' where id = $1",
      [id],
    )
  },

  /** The activities of a task, oldest first. */
  async activityOf(id: string) {
    return service.query(
      'select type, metadata, actor_type, actor_name from activity where task_id = $1 order by id',
      [id],
    )
  },
})
