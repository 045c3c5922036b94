import { isUnavailable } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { everywhere, onlyProjectOf, type Repositories } from '../../repositories/index.ts'
import type { KeyedActivity, PostedActivity } from '../../repositories/posted-activities.ts'
import type { Activity, NewActivity } from '../../schemas/activity.ts'
import type { Caller } from '../access.ts'
import type { IdempotencyKey } from '../idempotency.ts'
import { activityRow, actorOf } from './row.ts'
import { toActivity } from './view.ts'

/** A row has up to 32 KB. */
const MAX_STATEMENT_LENGTH = 1024 * 1024
/** Not measured: the size of most metadata, which may have 16 KiB. */
const ASSUMED_METADATA_LENGTH = 1_024

const lengthOf = ({ row: { message } }: PostedActivity) => (message?.length ?? 0) + ASSUMED_METADATA_LENGTH

/**
 * Logs single activities outside any transaction; concurrent ones share statements. Returns undefined where one was not
 * logged: its task or project cannot be written to, or its idempotency key is in use. The caller then finds out which.
 */
export function singleLogOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const { postedActivities } = repos.within(everywhere)
  const options = {
    name: 'log activity',
    maxItems: 100,
    concurrency: 2,
    maxBytes: MAX_STATEMENT_LENGTH,
    bytesOf: lengthOf,
    isForAll: isUnavailable,
  }
  const insert = batcher(insertAll, options)
  // These may wait for another transaction that uses the same key; the others need not wait, too.
  const insertWithKey = batcher(insertAllWithKeys, {
    ...options,
    bytesOf: (keyed: KeyedActivity) => lengthOf(keyed) + keyed.response.body.length,
  })

  return async function logSingle(
    caller: Caller,
    {
      input: { type, ...about },
      idempotencyKey,
    }: { input: NewActivity; idempotencyKey?: IdempotencyKey<Activity, unknown> | undefined },
  ): Promise<Activity | undefined> {
    const { taskId, projectId } = about
    const now = clock.now()
    const row = activityRow(clock, { now, type, actor: actorOf(caller), ...about })
    const posted = { row, reach: { projectIds: caller.projectIds } }
    if (!idempotencyKey) {
      const found = await insert(posted)
      return found && toActivity({ ...row, projectId: projectId ?? found.projectId })
    }
    const knownProjectId = projectId ?? onlyProjectOf(caller)
    // The response has the project of the task, which only the database knows.
    if (taskId && knownProjectId === null) return undefined
    const activity = toActivity({ ...row, projectId: knownProjectId })
    return (await insertWithKey({ ...posted, response: idempotencyKey.responseTo(activity) }))
      ? activity
      : undefined
  }

  async function insertAll(posted: PostedActivity[]): Promise<({ projectId: string | null } | undefined)[]> {
    const projects = await postedActivities.insert(posted)
    return posted.map(({ row: { id } }) =>
      projects.has(id) ? { projectId: projects.get(id) ?? null } : undefined,
    )
  }

  async function insertAllWithKeys(posted: KeyedActivity[]): Promise<boolean[]> {
    const inserted = await postedActivities.insertKeyed(posted)
    return posted.map(({ row }) => inserted.has(row.id))
  }
}
