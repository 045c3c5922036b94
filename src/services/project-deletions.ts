import type { ActorRef } from '../domain/new-task.ts'
import {
  AppError,
  projectInUse,
  projectIsDefault,
  projectNotEmpty,
  projectNotFound,
} from '../errors/index.ts'
import { biteSize } from '../lib/bite-size.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'
import type { ProjectRow } from '../repositories/projects.ts'
import type { Caller } from './access.ts'
import { activityRow, actorOf } from './activity/row.ts'

/** A project with so many tasks in its trash is deleted in one transaction: some 50 ms. */
const MAX_AT_ONCE = 100

/** What one transaction may take. */
const BATCH_MS = 50

interface ProjectDeletionsDeps {
  repos: Repositories
  clock: Clock
  /** How long a request works on a project with a large trash before the job goes on alone. */
  deletionMs?: number
}

/**
 * Deletes projects. One with a large trash is archived first, so that nothing comes into it; then its trash is emptied in
 * short transactions, first in the request, then by the job of whichever instance. To unarchive it calls that off.
 */
export function projectDeletionsOf({ repos, clock, deletionMs = 2_000 }: ProjectDeletionsDeps) {
  const batchSize = biteSize(BATCH_MS)

  return {
    /** Only when nothing is in it but hidden tasks and rules, and nothing names it. True once it is gone. */
    async delete(caller: Caller, id: string): Promise<boolean> {
      const isGone = await repos.within(caller).transaction(async (repos) => {
        const project = await lockEmptyProject(repos, clock, id)
        if (!(await repos.projectDeletions.hasMoreHidden(id, MAX_AT_ONCE))) {
          await finish(repos, project, actorOf(caller))
          return true
        }
        const now = clock.now()
        const { type: actorType, id: actorId, name: actorName } = actorOf(caller)
        await repos.projectDeletions.save({ projectId: id, actorType, actorId, actorName, createdAt: now })
        if (!project.archivedAt) {
          await repos.projects.update(id, { archivedAt: now, updatedAt: now })
          const about = { projectId: id, metadata: { name: project.name } }
          await repos.activity.insert([activityRow(clock, now, 'project.archived', actorOf(caller), about)])
          await repos.configurationChanges.announceProject(id)
        }
        return false
      })
      if (isGone) return true
      const deadline = performance.now() + deletionMs
      let result: 'gone' | 'further' | 'nowhere' = 'further'
      while (result === 'further' && performance.now() < deadline) result = await workOn(id)
      return result === 'gone'
    },

    /** Goes on with one that has begun; true where there is more to do. */
    async work(): Promise<boolean> {
      return (await workOn(undefined)) !== 'nowhere'
    },
  }

  async function workOn(projectId: string | undefined): Promise<'gone' | 'further' | 'nowhere'> {
    const start = performance.now()
    const batch = await repos.within(everywhere).transaction(async (repos) => {
      const deletion = await repos.projectDeletions.claim(projectId)
      if (!deletion) return undefined
      return {
        deletion,
        count: await repos.projectDeletions.deleteHidden(deletion.projectId, batchSize.now),
      }
    })
    if (!batch) return 'nowhere'
    const { deletion, count } = batch
    const isLast = count < batchSize.now
    batchSize.learn(performance.now() - start, !isLast)
    if (!isLast) return 'further'
    const { actorType: type, actorId, actorName: name } = deletion
    const actor = { type, id: actorId, name }
    const isGone = await repos
      .within(everywhere)
      .transaction(async (repos) =>
        finish(repos, await lockEmptyProject(repos, clock, deletion.projectId), actor),
      )
      .then(() => true)
      .catch(async (error) => {
        if (!(error instanceof AppError)) throw error
        // Something names it by now: it stays, archived. Or another instance was faster.
        await repos.within(everywhere).projectDeletions.cancel(deletion.projectId)
        return error.code === 'project_not_found'
      })
    return isGone ? 'gone' : 'nowhere'
  }

  async function finish(repos: BoundRepositories, project: ProjectRow, actor: ActorRef): Promise<void> {
    const { id: projectId, name } = project
    const now = clock.now()
    await repos.projects.delete(project, now)
    const about = { projectId, metadata: { name } }
    await repos.activity.insert([activityRow(clock, now, 'project.deleted', actor, about)])
    await repos.configurationChanges.announceProject(projectId)
  }
}

/** Locks a project that may be deleted, so that nothing comes into it. */
async function lockEmptyProject(repos: BoundRepositories, clock: Clock, id: string): Promise<ProjectRow> {
  const project = await repos.projects.findForDelete(id)
  if (!project) throw projectNotFound(id)
  if (project.isDefault) throw projectIsDefault(project.name)
  const lists = await repos.lists.listForUpdate(id)
  await repos.lists.close(lists.map(({ id }) => id))
  const content = await repos.projects.findContent(id, clock.now())
  if (content.tasks) throw projectNotEmpty(project.name)
  const users = USERS.filter(([member]) => content[member]).map(([, label]) => label)
  if (users.length > 0) throw projectInUse(project.name, users)
  return project
}

/** What may name a project, in words. */
const USERS = [
  ['rules', 'rules'],
  ['keys', 'keys'],
  ['routingRules', 'routing rules'],
] as const
