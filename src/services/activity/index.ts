import { orderById } from '../../domain/cursor.ts'
import { firstIdOf } from '../../domain/id-time.ts'
import type { Operations } from '../../domain/operation.ts'
import { activityNotFound, projectNotFound, taskNotFound, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { Activity, ActivityQuery, NewActivity } from '../../schemas/activity.ts'
import type { Caller } from '../access.ts'
import type { IdempotencyKey } from '../idempotency.ts'
import { readPage } from '../page.ts'
import { defaultProjectOf } from '../place.ts'
import { writableProject } from '../writable-project.ts'
import { activityRow, actorOf } from './row.ts'
import type { singleLogOf } from './single-log.ts'
import { toActivity } from './view.ts'

/** An activity has up to 32 KB. */
const MAX_AT_ONCE = 50

export const activityOperations = {
  log: { scope: 'activity:write' },
  list: { scope: 'tasks:read' },
  get: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof activityService>>

/** The activity log: who changed what. Append-only; other systems can add to it. */
export function activityService({ repos, clock, logSingle }: ActivityDeps) {
  return {
    log,

    /** @throws activity_not_found */
    async get(caller: Caller, id: string): Promise<Activity> {
      const row = await repos.within(caller).activity.find(id)
      if (!row) throw activityNotFound(id)
      return toActivity(row)
    },

    /**
     * Newest first.
     * @throws project_not_found, task_not_found
     */
    async list(caller: Caller, { limit, cursor, since, type, ...query }: ActivityQuery) {
      const bound = repos.within(caller)
      const { projectId, taskId } = query
      if (projectId && !(await bound.projects.find(projectId))) throw projectNotFound(projectId)
      if (taskId && !(await bound.activity.knowsTask(taskId))) throw taskNotFound(taskId)

      const from = since === undefined ? undefined : firstIdOf(new Date(since))
      return readPage({
        order: orderById('activity'),
        request: { limit, cursor },
        maxAtOnce: MAX_AT_ONCE,
        async read(before, limit) {
          const rows = await bound.activity.list({ ...query, types: type, from }, { before, limit })
          return rows.map(toActivity)
        },
      })
    },
  }

  /**
   * Logs an activity, once for an idempotency key.
   * @throws task_not_found, project_not_found, project_archived, validation_failed
   */
  async function log<Replay = never>(
    caller: Caller,
    { input, idempotencyKey }: Logging<Replay>,
  ): Promise<Activity | Replay> {
    const single = await logSingle?.(caller, { input, idempotencyKey })
    if (single) return single
    const { type, ...about } = input
    const logAlone = (repos: Repositories): Promise<Activity> =>
      repos.within(caller).transaction(async (repos) => {
        const projectId = await projectFor(repos, { caller, ...about })
        const now = clock.now()
        const row = activityRow(clock, { now, type, actor: actorOf(caller), ...about, projectId })
        await repos.activity.insert([row])
        return toActivity(row)
      })
    return idempotencyKey ? idempotencyKey.once(logAlone) : logAlone(repos)
  }
}

interface Logging<Replay> {
  input: NewActivity
  idempotencyKey?: IdempotencyKey<Activity, Replay> | undefined
}

interface ActivityDeps {
  repos: Repositories
  clock: Clock
  /** Logs an activity together with others; absent inside a transaction. */
  logSingle?: ReturnType<typeof singleLogOf> | undefined
}

/** The project of an activity: the one in the request, else the task's, else the one the caller is bound to. */
async function projectFor(
  repos: BoundRepositories,
  { caller, taskId, projectId }: Pick<NewActivity, 'taskId' | 'projectId'> & { caller: Caller },
): Promise<string | null> {
  const task = taskId ? await repos.tasks.find(taskId) : undefined
  if (taskId && !task) throw taskNotFound(taskId)
  const id = projectId ?? task?.projectId ?? defaultProjectOf(caller)
  if (id === null) return null
  await writableProject(repos, { id })
  if (task && task.projectId !== id) {
    const message = 'must be the project of the task, or be omitted'
    throw validationFailed([{ path: '/projectId', code: 'not_allowed', message }])
  }
  return id
}
