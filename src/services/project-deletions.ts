import type { ActorRef } from '../domain/new-task.ts'
import {
  AppError,
  projectInUse,
  projectIsDefault,
  projectNotEmpty,
  projectNotFound,
} from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { ProjectDeletionRow } from '../repositories/deletions.ts'
import { type BoundRepositories, everywhere } from '../repositories/index.ts'
import type { ProjectRow, ProjectUser } from '../repositories/projects.ts'
import type { Caller } from './access.ts'
import { activityRow, actorOf } from './activity/row.ts'
import { type DeletionDeps, deleterOf, largeDeletions, MAX_AT_ONCE } from './large-deletions.ts'

interface Announcement {
  project: ProjectRow
  type: string
  actor: ActorRef
  now: Date
}

/**
 * Deletes projects. One with a large trash is archived first, so that nothing is added; then its trash is emptied in
 * batches. Unarchiving it cancels the deletion.
 */
export function projectDeletionsOf({ repos, clock, ...limits }: DeletionDeps) {
  const bound = repos.within(everywhere)
  const deletions = largeDeletions<ProjectDeletionRow>(
    {
      isGone: async (id) => !(await bound.projects.find(id)),
      isPending: (id) => bound.projectDeletions.exists(id),
      claim: (repos, id) => repos.projectDeletions.claim(id),
      takeSome: (repos, { deletion, limit }) =>
        repos.projectDeletions.deleteHidden(deletion.projectId, limit),
      finish: finishClaimed,
    },
    { repos, ...limits },
  )

  return {
    /** Requires that only deleted tasks and rules are left, and no references. Returns true if it is deleted already. */
    delete: (caller: Caller, id: string): Promise<boolean> =>
      deletions.delete(id, () => repos.within(caller).transaction((repos) => begin(repos, { caller, id }))),
    work: deletions.work,
  }

  async function begin(
    repos: BoundRepositories,
    { caller, id }: { caller: Caller; id: string },
  ): Promise<boolean> {
    const actor = actorOf(caller)
    const project = await lockEmptyProject(repos, { clock, id })
    if (!(await repos.projectDeletions.hasMoreHidden(id, MAX_AT_ONCE))) {
      await finish(repos, { project, actor })
      return true
    }
    const now = clock.now()
    const { type: actorType, id: actorId, name: actorName } = actor
    await repos.projectDeletions.save({ projectId: id, actorType, actorId, actorName, createdAt: now })
    if (!project.archivedAt) {
      await repos.projects.update(id, { archivedAt: now, updatedAt: now })
      await announce(repos, { project, type: 'project.archived', actor, now })
    }
    return false
  }

  /** Deletes the project, or cancels the deletion of one that can't be deleted any more. */
  async function finishClaimed(deletion: ProjectDeletionRow): Promise<true> {
    const { projectId } = deletion
    await bound
      .transaction(async (repos) => {
        const project = await lockEmptyProject(repos, { clock, id: projectId })
        // Who unarchived the project after the last batch cancelled this.
        if (!(await repos.projectDeletions.exists(projectId))) return
        await finish(repos, { project, actor: deleterOf(deletion) })
      })
      .catch(async (error) => {
        if (!(error instanceof AppError)) throw error
        // It is referenced again, so it stays archived; or another instance has deleted it.
        await bound.projectDeletions.cancel(projectId)
      })
    return true
  }

  async function finish(
    repos: BoundRepositories,
    { project, actor }: { project: ProjectRow; actor: ActorRef },
  ): Promise<void> {
    const now = clock.now()
    await repos.projects.delete(project, now)
    await announce(repos, { project, type: 'project.deleted', actor, now })
  }

  async function announce(
    repos: BoundRepositories,
    { project: { id, name }, ...row }: Announcement,
  ): Promise<void> {
    await repos.activity.insert([activityRow(clock, { ...row, projectId: id, metadata: { name } })])
    await repos.configurationChanges.announceProject(id)
  }
}

/** Locks a project that can be deleted, so that nothing is added to it. */
async function lockEmptyProject(
  repos: BoundRepositories,
  { clock, id }: { clock: Clock; id: string },
): Promise<ProjectRow> {
  const project = await repos.projects.findForDelete(id)
  if (!project) throw projectNotFound(id)
  if (project.isDefault) throw projectIsDefault(project.name)
  // No writer adds a task without a lock on the project, so its lists need none against that; in this order, their
  // deletion cannot deadlock with the aggregation of counts.
  await repos.lists.listForUpdate(id)
  if (await repos.projects.hasTasks(id)) throw projectNotEmpty(project.name)
  const users = await repos.projects.listUsers(id, { now: clock.now(), limit: MAX_NAMED })
  if (users.length > 0) throw projectInUse(project.name, namesOf(users))
  return project
}

/** What an error names of each kind that references a project. */
const MAX_NAMED = 3

function namesOf(users: ProjectUser[]): string {
  const names = users.map(({ kind, name }) => (name === null ? `a ${kind}` : `the ${kind} "${name}"`))
  return new Intl.ListFormat('en').format(new Set(names))
}
