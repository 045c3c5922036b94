import { setTimeout as wait } from 'node:timers/promises'
import type { ActorRef } from '../domain/new-task.ts'
import {
  AppError,
  projectInUse,
  projectIsDefault,
  projectNotEmpty,
  projectNotFound,
} from '../errors/index.ts'
import { adaptiveBatchSize } from '../lib/batch-size.ts'
import type { Clock } from '../lib/clock.ts'
import { type BoundRepositories, everywhere, type Repositories } from '../repositories/index.ts'
import type { ProjectRow } from '../repositories/projects.ts'
import type { Caller } from './access.ts'
import { activityRow, actorOf } from './activity/row.ts'

/** A project with at most this many tasks in its trash is deleted in one transaction: about 50 ms. */
const MAX_AT_ONCE = 100

/** The result of one batch; `waiting` if another deletion has its turn, `blocked` if there was nothing to do. */
type Progress = 'deleted' | 'progressed' | 'waiting' | 'blocked'

/** Pause before a retry when another deletion has its turn. */
const PAUSE_MS = 20

/** Target duration of one transaction. */
const BATCH_MS = 50

interface ProjectDeletionsDeps {
  repos: Repositories
  clock: Clock
  /** How long a request deletes tasks of a large trash before it leaves the rest to the job. */
  deletionMs?: number
}

/**
 * Deletes projects. One with a large trash is archived first, so that nothing is added; then its trash is emptied in short
 * transactions, first in the request, then in the background job of any instance. Unarchiving it cancels the deletion.
 */
export function projectDeletionsOf({ repos, clock, deletionMs = 2_000 }: ProjectDeletionsDeps) {
  const batchSize = adaptiveBatchSize(BATCH_MS)

  return {
    /** Requires that only deleted tasks and rules are left, and no references. Returns true if it is deleted already. */
    async delete(caller: Caller, id: string): Promise<boolean> {
      const isGone = await repos.within(caller).transaction(async (repos) => {
        const project = await lockEmptyProject(repos, { clock, id })
        if (!(await repos.projectDeletions.hasMoreHidden(id, MAX_AT_ONCE))) {
          await finish(repos, { project, actor: actorOf(caller) })
          return true
        }
        const now = clock.now()
        const { type: actorType, id: actorId, name: actorName } = actorOf(caller)
        await repos.projectDeletions.save({ projectId: id, actorType, actorId, actorName, createdAt: now })
        if (!project.archivedAt) {
          await repos.projects.update(id, { archivedAt: now, updatedAt: now })
          const about = { projectId: id, metadata: { name: project.name } }
          await repos.activity.insert([
            activityRow(clock, { now, type: 'project.archived', actor: actorOf(caller), ...about }),
          ])
          await repos.configurationChanges.announceProject(id)
        }
        return false
      })
      if (isGone) return true
      const deadline = performance.now() + deletionMs
      let workedMs = 0
      while (performance.now() < deadline) {
        const start = performance.now()
        const owedMs = workedMs
        const result = await workOn(id, () => wait(owedMs))
        if (result === 'deleted' || result === 'blocked') return result === 'deleted'
        if (result === 'progressed') workedMs = performance.now() - start - owedMs
        else await wait(PAUSE_MS)
      }
      return false
    },

    /** Continues one deletion by one batch; returns whether there is more to do. */
    async work(pause?: () => Promise<void>): Promise<boolean> {
      const { deletionTurn } = repos.within(everywhere)
      if (!(await deletionTurn.isNeeded())) return false
      return ['deleted', 'progressed'].includes(await workOn(undefined, pause))
    },
  }

  async function workOn(projectId: string | undefined, pause = async () => {}): Promise<Progress> {
    let start = 0
    const batch = await repos.within(everywhere).transaction(async (repos) => {
      if (!(await repos.deletionTurn.take())) return 'waiting'
      // Nothing else is locked yet.
      await pause()
      start = performance.now()
      const deletion = await repos.projectDeletions.claim(projectId)
      if (!deletion) return undefined
      return {
        deletion,
        ...(await repos.projectDeletions.deleteHidden(deletion.projectId, batchSize.now)),
      }
    })
    if (!batch || batch === 'waiting') {
      // Another instance may have finished it.
      const isGone = projectId && !(await repos.within(everywhere).projects.find(projectId))
      return isGone ? 'deleted' : (batch ?? 'blocked')
    }
    const { deletion, count, isFull } = batch
    batchSize.learn(performance.now() - start, count === batchSize.now)
    if (isFull) return 'progressed'
    const { actorType: type, actorId, actorName: name } = deletion
    const actor = { type, id: actorId, name }
    const isGone = await repos
      .within(everywhere)
      .transaction(async (repos) => {
        const project = await lockEmptyProject(repos, { clock, id: deletion.projectId })
        // Who unarchived the project after the last batch cancelled this.
        if (!(await repos.projectDeletions.exists(project.id))) return false
        await finish(repos, { project, actor })
        return true
      })
      .catch(async (error) => {
        if (!(error instanceof AppError)) throw error
        // It is referenced again, so it stays archived; or another instance has deleted it.
        await repos.within(everywhere).projectDeletions.cancel(deletion.projectId)
        return error.code === 'project_not_found'
      })
    return isGone ? 'deleted' : 'blocked'
  }

  async function finish(
    repos: BoundRepositories,
    { project, actor }: { project: ProjectRow; actor: ActorRef },
  ): Promise<void> {
    const { id: projectId, name } = project
    const now = clock.now()
    await repos.projects.delete(project, now)
    const about = { projectId, metadata: { name } }
    await repos.activity.insert([activityRow(clock, { now, type: 'project.deleted', actor, ...about })])
    await repos.configurationChanges.announceProject(projectId)
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
  const content = await repos.projects.findContent(id, clock.now())
  if (content.tasks) throw projectNotEmpty(project.name)
  const users = USERS.filter(([member]) => content[member]).map(([, label]) => label)
  if (users.length > 0) throw projectInUse(project.name, users)
  return project
}

/** What can reference a project, and its name in errors. */
const USERS = [
  ['rules', 'rules'],
  ['keys', 'keys'],
  ['routingRules', 'routing rules'],
  ['sources', 'sources'],
  ['webhooks', 'webhooks'],
  ['connections', 'a connection'],
] as const
