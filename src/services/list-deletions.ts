import { idsOf } from '../domain/list-order.ts'
import { AppError, listIsDefault, listNotEmpty, listNotFound, validationFailed } from '../errors/index.ts'
import type { ListDeletionRow } from '../repositories/deletions.ts'
import { type BoundRepositories, everywhere, inProject } from '../repositories/index.ts'
import type { ListRow } from '../repositories/lists.ts'
import type { Caller } from './access.ts'
import { activityRow, actorOf } from './activity/row.ts'
import { type DeletionDeps, deleterOf, largeDeletions, MAX_AT_ONCE } from './large-deletions.ts'
import { lockedList } from './list-locks.ts'

/**
 * Deletes lists. The tasks of a large list are moved in batches, and it accepts tasks until the last step. Only that step
 * locks the list.
 */
export function listDeletionsOf({ repos, clock, ...limits }: DeletionDeps) {
  const bound = repos.within(everywhere)
  const deletions = largeDeletions<ListDeletionRow>(
    {
      isGone: async (id) => !(await bound.lists.find(id)),
      isPending: async (id) => (await bound.listDeletions.find(id)) !== undefined,
      claim: (repos, id) => repos.listDeletions.claim(id),
      async takeSome(repos, batch) {
        const count = await moveSome(repos, batch)
        return { count, isLast: count < batch.limit }
      },
      finish,
    },
    { repos, ...limits },
  )

  return {
    /** Returns true if the list is deleted already. */
    delete: (caller: Caller, { id, moveTo }: { id: string; moveTo?: string | undefined }): Promise<boolean> =>
      deletions.delete(id, () =>
        repos.within(caller).transaction((repos) => begin(repos, { caller, id, moveTo })),
      ),
    work: deletions.work,
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

  /** Deletes the list and moves the tasks added since. Returns false if it has to be retried. */
  async function finish(deletion: ListDeletionRow): Promise<boolean> {
    const { listId, projectId } = deletion
    const bound = repos.within(inProject(projectId))
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
      activityRow(clock, { now: clock.now(), type: 'list.deleted', actor: deleterOf(deletion), ...about }),
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
          actor: deleterOf(deletion),
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
          actor: deleterOf(deletion),
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
