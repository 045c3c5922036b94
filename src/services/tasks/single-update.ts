import { NO_CLAIM } from '../../domain/claim.ts'
import { type ChangeOutcome, decideChange } from '../../domain/task-change.ts'
import { EDITED_FIELDS } from '../../domain/task-fields.ts'
import { isUnavailable, listNotFound, projectArchived, taskNotFound } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories, reaches } from '../../repositories/index.ts'
import type { DestinationRow } from '../../repositories/lists.ts'
import type { DecidedChange } from '../../repositories/task-changes.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { WrittenTask } from '../../schemas/task.ts'
import type { TaskChange } from '../../schemas/task-requests.ts'
import type { Caller } from '../access.ts'
import { activityRow, actorOf } from '../activity/row.ts'
import { type AllowedVersions, refuseStale } from '../versions.ts'
import { refuseArchived } from '../writable-project.ts'
import { lengthOf, MAX_STATEMENT_LENGTH } from './statement-size.ts'
import { toTask, writtenFor } from './view.ts'

interface RequestedChange {
  caller: Caller
  id: string
  change: TaskChange
  claimNumber?: number | undefined
  allowed: AllowedVersions
}

type TaskWithProject = Awaited<ReturnType<BoundRepositories['taskChanges']['listWithProjects']>>[number]

/** The task afterwards, or why it was not changed; undefined if that has to be decided again under a lock. */
type Result = { task: TaskRow; isBlocked: boolean } | { error: unknown } | undefined

/**
 * Changes single tasks outside any transaction; concurrent changes share statements. Each is decided on the task as it
 * was read, and written if that version is still current. Returns undefined where it is not, or its list does not accept
 * tasks any more: the caller then locks the task.
 */
export function singleUpdateOf({ repos, clock }: { repos: Repositories; clock: Clock }) {
  const { taskChanges, lists } = repos.within(everywhere)
  const update = batcher(updateAll, {
    name: 'change tasks',
    maxItems: 50,
    concurrency: 2,
    maxBytes: MAX_STATEMENT_LENGTH,
    bytesOf: ({ change }: RequestedChange) => lengthOf(change) + (change.notes?.length ?? 0),
    isForAll: isUnavailable,
  })

  return async function updateSingle(request: RequestedChange): Promise<WrittenTask | undefined> {
    // Its comment has to be read.
    if (request.change.question) return undefined
    const result = await update({ ...request, id: request.id.toLowerCase() })
    if (!result) return undefined
    if ('error' in result) throw result.error
    return writtenFor(request.caller, toTask(result.task, result))
  }

  async function updateAll(requests: RequestedChange[]): Promise<Result[]> {
    const rows = await taskChanges.listWithProjects(requests.map(({ id }) => id))
    const destinations = await destinationsOf(requests)
    const found = new Map(rows.map((row) => [row.task.id, row]))
    const decided = new Map<string, DecidedChange>()
    const results = requests.map((request): Result => {
      // Each change of a task in a batch is decided on the result of the one before; all are written as one.
      const earlier = decided.get(request.id)
      if (earlier && isMove(earlier.update)) return undefined
      try {
        const read = found.get(request.id)
        const current = read && { ...read, task: earlier?.changed ?? read.task }
        const { task, isBlocked, outcome } = decide(request, { found: current, destinations })
        if (!outcome) return { task, isBlocked }
        // Looking for cycles needs a lock.
        if (outcome.update.blockedBy?.length) return undefined
        if (outcome.stateWrite || Object.keys(outcome.update).some((name) => !isWritten(name)))
          return undefined
        const changed = { ...task, ...outcome.update }
        const activities = activitiesOf(outcome, { task: changed, caller: request.caller })
        decided.set(task.id, {
          task: earlier?.task ?? task,
          update: { ...earlier?.update, ...outcome.update },
          changed,
          activities: [...(earlier?.activities ?? []), ...activities],
          isUnderClaim: earlier?.isUnderClaim || request.claimNumber !== undefined,
        })
        return { task: changed, isBlocked: isBlocked && changed.blockedBy.length > 0 }
      } catch (error) {
        return { error }
      }
    })
    if (decided.size === 0) return results
    const missing = await taskChanges.updateDecided([...decided.values()])
    return results.map((result, index) => (missing.has(requests[index]?.id ?? '') ? undefined : result))
  }

  async function destinationsOf(requests: RequestedChange[]): Promise<Map<string, DestinationRow>> {
    const listIds = requests.flatMap(({ change: { listId } }) => listId?.toLowerCase() ?? [])
    const rows = listIds.length > 0 ? await lists.listDestinations([...new Set(listIds)]) : []
    return new Map(rows.map((row) => [row.listId, row]))
  }

  function decide(
    { caller, id, change, claimNumber, allowed }: RequestedChange,
    {
      found,
      destinations,
    }: { found: TaskWithProject | undefined; destinations: Map<string, DestinationRow> },
  ) {
    if (!found || !reaches(caller, found.task.projectId)) throw taskNotFound(id)
    refuseArchived(found.project)
    refuseStale(allowed, found.task.version)
    const { listId } = change
    const moveTo = listId === undefined ? undefined : destinations.get(listId.toLowerCase())
    if (listId !== undefined && !(moveTo && reaches(caller, moveTo.projectId))) throw listNotFound(listId)
    if (moveTo?.isArchived) throw projectArchived(moveTo.projectName)
    const connection = found.project.connection ?? undefined
    const actor = actorOf(caller)
    const { channel } = caller
    const requested = { change, claimNumber, moveTo, actor, channel, connection, now: clock.now() }
    return { ...found, outcome: decideChange(found.task, requested) }
  }

  function activitiesOf(
    { update, activities }: ChangeOutcome,
    { task, caller }: { task: TaskRow; caller: Caller },
  ) {
    const about = { taskId: task.id, projectId: task.projectId }
    return activities.map(({ type, metadata }) =>
      activityRow(clock, { ...about, now: update.updatedAt, type, actor: actorOf(caller), metadata }),
    )
  }
}

/** The next change then needs another project, which was not read. */
const isMove = (update: object) => 'listId' in update || 'projectId' in update

/** What ends a claim is written, too. */
const WRITTEN: readonly string[] = [...EDITED_FIELDS, ...Object.keys(NO_CLAIM)]
const isWritten = (name: string) => WRITTEN.includes(name)
