import { setTimeout as wait } from 'node:timers/promises'
import { idsOf } from '../domain/list-order.ts'
import type { ActorRef } from '../domain/new-task.ts'
import { AppError, listIsDefault, listNotEmpty, listNotFound, validationFailed } from '../errors/index.ts'
import { adaptiveBatchSize } from '../lib/batch-size.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'
import type { ListDeletionRow } from '../repositories/list-deletions.ts'
import type { ListRow } from '../repositories/lists.ts'
import type { Caller } from './access.ts'
import { activityRow, actorOf } from './activity/row.ts'
import { lockedList } from './list-locks.ts'

/** A list with at most this many tasks, deleted ones included, is deleted in one transaction: about 50 ms. */
const MAX_AT_ONCE = 100

/** The result of one batch; `blocked` if nothing could be moved, or if another deletion has its turn. */
type Progress = 'deleted' | 'progressed' | 'blocked'

/** Target duration of one transaction: nobody waits longer for one of its tasks. */
const BATCH_MS = 50

/** Pause before a retry of the last step, when tasks are being added to the list or are locked. */
const PAUSE_MS = 20

/**
 * Deletes lists. The tasks of a large list move in short transactions, first in the request, then in the background job
 * of any instance. Each batch is final, so a killed process loses nothing, and the list accepts tasks until the last
 * step. Only that step locks the list.
 */
export function listDeletionsOf({
  repos,
  clock,
  deletionMs = 2_000,
}: {
  repos: Repositories
  clock: Clock
  deletionMs?: number
}) {
  const batchSize = adaptiveBatchSize(BATCH_MS)

  return {
    /** Returns true if the list is deleted already. */
    async delete(
      caller: Caller,
      { id, moveTo }: { id: string; moveTo?: string | undefined },
    ): Promise<boolean> {
      const isGone = await repos.within(caller).transaction((repos) => begin(repos, { caller, id, moveTo }))
      if (isGone) return true
      const deadline = performance.now() + deletionMs
      let workedMs = 0
      while (performance.now() < deadline) {
        const start = performance.now()
        const owedMs = workedMs
        // Half of the time is left to others: a deletion without pauses takes a processor of the database.
        const result = await workOn(id, () => wait(owedMs))
        if (result === 'deleted') return true
        if (result === 'progressed') workedMs = performance.now() - start - owedMs
        else await wait(PAUSE_MS)
      }
      return false
    },

    /** Continues one deletion by one batch; returns whether there is more to do. */
    async work(pause?: () => Promise<void>): Promise<boolean> {
      const { deletionTurn } = repos.within(everywhere)
      return (await deletionTurn.isNeeded()) && (await workOn(undefined, pause)) === 'progressed'
    },
  }

  /** Returns true if the list is deleted already. */
  async function begin(
    repos: BoundRepositories,
    { caller, id, moveTo }: { caller: Caller; id: string; moveTo: string | undefined },
  ): Promise<boolean> {
    const target = moveTo === undefined ? undefined : await targetOf(repos, { id, moveTo })
    const { list, lists } = await lockedList(repos, id)
    if (list.isDefault) throw listIsDefault(list.name)
    const destination = lists.find((other) => (target ? other.id === target.id : other.isDefault))
    if (!destination) throw listNotFound(moveTo ?? '(default)')
    if (await repos.listDeletions.find(destination.id))
      throw invalidTarget('must not be a list that is being deleted')

    const [existing] = (await repos.listDeletions.listAboutForUpdate(list.id)).filter(
      ({ listId }) => listId === list.id,
    )
    const isSmall = !(await repos.tasks.hasMoreIn(list.id, MAX_AT_ONCE))
    if (isSmall || !target) await repos.lists.close(list.id)
    if (!target && !existing && (await repos.tasks.hasAnyIn(list.id))) throw listNotEmpty(list.name)
    const { type, id: actorId, name } = actorOf(caller)
    const deletion = {
      listId: list.id,
      projectId: list.projectId,
      targetId: destination.id,
      moveTo: target?.id ?? null,
      actorType: type,
      actorId,
      actorName: name,
      createdAt: clock.now(),
    }
    await moveUsers(repos, deletion)
    if (isSmall && (await finishClosed(repos, { deletion, list, lists }))) return true
    await repos.listDeletions.save(deletion)
    if (!target) await repos.listDeletions.refuseNewTasks(list.id)
    return false
  }

  async function workOn(listId: string | undefined, pause = async () => {}): Promise<Progress> {
    let start = 0
    const batch = await repos.within(everywhere).transaction(async (repos) => {
      if (!(await repos.deletionTurn.take())) return undefined
      // Nothing else is locked yet.
      await pause()
      start = performance.now()
      const deletion = await repos.listDeletions.claim(listId)
      if (!deletion) return undefined
      return { deletion, moved: await moveSome(repos, { deletion, limit: batchSize.now }) }
    })
    // It is finished, or somebody else has the turn.
    if (!batch) return listId && !(await repos.within(everywhere).lists.find(listId)) ? 'deleted' : 'blocked'
    const isLast = batch.moved < batchSize.now
    batchSize.learn(performance.now() - start, !isLast)
    if (isLast && (await finish(batch.deletion))) return 'deleted'
    return batch.moved > 0 ? 'progressed' : 'blocked'
  }

  /** Deletes the list and moves the tasks added since. Returns false if it has to be retried. */
  async function finish(deletion: ListDeletionRow): Promise<boolean> {
    const { listId, projectId } = deletion
    const bound = repos.within({ projectId })
    await bound.listDeletions.refuseNewTasks(listId)
    return bound
      .transaction(async (repos) => {
        const { list, lists } = await lockedList(repos, listId)
        const present = await repos.listDeletions.listAboutForUpdate(listId)
        const existing = present.find((each) => each.listId === listId)
        if (!existing) return true
        if (!(await repos.lists.tryClose(listId))) return false
        await moveUsers(repos, existing)
        return finishClosed(repos, { deletion: existing, list, lists })
      })
      .catch((error) => {
        // The project was archived: continues once it is unarchived. Or another instance deleted the list, or its
        // project was deleted.
        if (!(error instanceof AppError)) throw error
        return error.code === 'list_not_found' || error.code === 'project_not_found'
      })
  }

  /** The list is locked against new tasks. Returns false if it has more tasks than one transaction moves. */
  async function finishClosed(
    repos: BoundRepositories,
    { deletion, list, lists }: { deletion: ListDeletionRow; list: ListRow; lists: ListRow[] },
  ): Promise<boolean> {
    await moveSome(repos, { deletion, limit: MAX_AT_ONCE })
    if (await repos.tasks.hasMoreIn(list.id, 0)) return false
    await repos.listDeletions.redirect(list.id, deletion.targetId)
    await repos.lists.delete(list)
    await repos.lists.reorder(idsOf(lists).filter((other) => other !== list.id))
    const metadata = { listId: list.id, name: list.name, moveTo: deletion.moveTo }
    const about = { projectId: list.projectId, metadata }
    await repos.activity.insert([
      activityRow(clock, { now: clock.now(), type: 'list.deleted', actor: actor(deletion), ...about }),
    ])
    await repos.configurationChanges.announceProject(list.projectId)
    return true
  }

  /** What adds tasks to the list, or shows them, follows them. */
  async function moveUsers(repos: BoundRepositories, deletion: ListDeletionRow): Promise<void> {
    const { listId, targetId, projectId } = deletion
    await repos.codehost.moveList(listId, targetId)
    await repos.savedFilters.moveList(listId, targetId)
    const moved = await repos.sources.moveList(listId, targetId)
    const now = clock.now()
    await repos.activity.insert(
      moved.map(({ id: sourceId, name }) => {
        const metadata = { sourceId, name, fields: ['listId'] }
        return activityRow(clock, {
          now,
          type: 'source.updated',
          actor: actor(deletion),
          projectId,
          metadata,
        })
      }),
    )
  }

  /** Moves one batch; skips locked tasks. */
  async function moveSome(
    repos: BoundRepositories,
    { deletion, limit }: { deletion: ListDeletionRow; limit: number },
  ): Promise<number> {
    const { listId, targetId, projectId } = deletion
    const now = clock.now()
    const metadata = { changes: { listId: { from: listId, to: targetId } } }
    const ids = await repos.tasks.moveSome({ fromListId: listId, toListId: targetId, now, limit })
    await repos.activity.insert(
      ids.map((taskId) =>
        activityRow(clock, {
          now,
          type: 'task.updated',
          actor: actor(deletion),
          taskId,
          projectId,
          metadata,
        }),
      ),
    )
    const left = limit - ids.length
    return (
      ids.length +
      (left > 0 ? await repos.tasks.moveDeleted({ fromListId: listId, toListId: targetId, limit: left }) : 0)
    )
  }
}

const actor = ({ actorType, actorId, actorName }: ListDeletionRow): ActorRef => ({
  type: actorType,
  id: actorId,
  name: actorName,
})

/** The list that receives the tasks. */
async function targetOf(
  repos: BoundRepositories,
  { id, moveTo }: { id: string; moveTo: string },
): Promise<ListRow> {
  const list = await repos.lists.find(id)
  if (!list) throw listNotFound(id)
  const target = await repos.lists.find(moveTo)
  if (!target) throw listNotFound(moveTo)
  if (target.id === list.id) throw invalidTarget('must be another list than the one to be deleted')
  if (target.projectId !== list.projectId) throw invalidTarget('must be a list of the same project')
  return target
}

const invalidTarget = (message: string) =>
  validationFailed([{ path: 'query.moveTo', code: 'not_allowed', message }])
