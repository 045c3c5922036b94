import { setTimeout as wait } from 'node:timers/promises'
import { claimOf, isClaimExpired, isOwnClaim, NO_CLAIM } from '../../domain/claim.ts'
import type { Operations } from '../../domain/operation.ts'
import {
  claimLost,
  claimOfThisKey,
  invalidCredentials,
  listNotFound,
  projectArchived,
  projectNotFound,
  sessionEnded,
  taskClaimed,
  taskNotFound,
  taskNotReady,
} from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type ClaimFilter, MAX_SHORT_LIST } from '../../repositories/claims.ts'
import {
  type BoundRepositories,
  everywhere,
  type Reach,
  type Repositories,
} from '../../repositories/index.ts'
import type { TaskRow } from '../../repositories/tasks.ts'
import type { ClaimedTask, ClaimRenewal, NextClaim } from '../../schemas/claim-requests.ts'
import type { Task } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { actorOf, changeLog } from '../activity/row.ts'
import type { Recorder } from '../recorder.ts'
import { blockedAmong } from '../tasks/blockers.ts'
import { lockTasks, writableTask } from '../tasks/locks.ts'
import { mayReadTasks, writtenTask } from '../tasks/view.ts'
import { refuseArchived } from '../writable-project.ts'
import { openExpired } from './expired.ts'
import { type Claimant, claimNext, newClaim, type sharedClaimsOf } from './next.ts'

const DEFAULT_LEASE_SECONDS = 900

/** Tasks that others have locked may be free again soon: 4 pauses, 100 ms in total. */
const MAX_ATTEMPTS = 5
const PAUSE_MS = 10

export const claimOperations = {
  claimNext: { scope: 'tasks:write' },
  claim: { scope: 'tasks:write' },
  renew: { scope: 'tasks:write' },
  release: { scope: 'tasks:write' },
} satisfies Operations<ReturnType<typeof claimsService>>

interface ClaimsDeps {
  repos: Repositories
  clock: Clock
  metrics: Pick<Recorder, 'claimed'>
  /** Claims the next task together with others; absent inside a transaction. */
  claimShared?: ReturnType<typeof sharedClaimsOf> | undefined
}

/**
 * Claims: who works on a task, and until when. The number of a claim is its fence: a change that names it is made only
 * while the claim lasts.
 */
export function claimsService({ repos, clock, metrics, claimShared }: ClaimsDeps) {
  const log = changeLog(clock)
  const claimOne = claimShared ?? claimAlone

  return {
    /**
     * Claims the first ready task, by priority, then age. Undefined if there is none.
     * @throws project_not_found, list_not_found, project_archived, invalid_credentials
     */
    async claimNext(caller: Caller, { leaseSeconds, ...which }: NextClaim): Promise<ClaimedTask | undefined> {
      const filter = await filterOf(repos.within(caller), { ...which, reach: caller })
      const claimant = claimantOf(caller, leaseSeconds)
      for (let attempt = 1; ; attempt++) {
        const { json, hasMore } = await claimOne({ filter, ...claimant })
        if (json !== undefined) return claimedFor(caller, JSON.parse(json))
        await requireActive(repos.within(caller), caller)
        if (!hasMore || attempt === MAX_ATTEMPTS) return undefined
        await wait(attempt * PAUSE_MS)
      }
    },

    /** @throws task_not_found, project_archived, task_claimed, task_not_ready, invalid_credentials */
    async claim(
      caller: Caller,
      { id, leaseSeconds }: { id: string; leaseSeconds?: number | undefined },
    ): Promise<ClaimedTask> {
      const bound = repos.within(caller)
      const claimant = claimantOf(caller, leaseSeconds)
      for (;;) {
        await requireClaimable(bound, { caller, id })
        const json = await bound.claims.claim(id, newClaim(clock, claimant))
        if (json === undefined) {
          await requireActive(bound, caller)
          continue
        }
        metrics.claimed('made')
        return claimedFor(caller, JSON.parse(json))
      }
    },

    /**
     * Extends the lease of the caller's claim.
     * @throws task_not_found, project_archived, claim_lost
     */
    async renew(
      caller: Caller,
      { id, number, leaseSeconds = DEFAULT_LEASE_SECONDS }: ClaimRenewal & { id: string },
    ): Promise<ClaimedTask> {
      const renewed = await repos.within(caller).transaction(async (repos) => {
        const task = await claimedTask(repos, { caller, id, number })
        await repos.claims.renew(task.id, leaseSeconds)
        return claimedFor(caller, await writtenTask(repos, task.id))
      })
      metrics.claimed('renewed')
      return renewed
    },

    /**
     * Ends the caller's claim, and opens the task.
     * @throws task_not_found, project_archived, claim_lost
     */
    async release(caller: Caller, { id, number }: { id: string; number: number }): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const task = await claimedTask(repos, { caller, id, number })
        const now = clock.now()
        const version = task.version + 1
        await repos.tasks.update(task.id, { ...NO_CLAIM, status: 'open', updatedAt: now, version })
        const about = { taskId: task.id, projectId: task.projectId, metadata: { number } }
        await log(repos, { type: 'task.claim_released', caller, now, ...about })
      })
      metrics.claimed('released')
    },

    /** Opens some tasks whose lease is over; returns whether there may be more. Called by the worker every few seconds. */
    async openExpired(): Promise<boolean> {
      const bound = repos.within(everywhere)
      if (!(await bound.claims.hasExpired())) return false
      return openExpired(bound, { clock, metrics })
    },
  }

  async function claimAlone(request: Parameters<typeof claimNext>[1][number]) {
    const [result] = await claimNext({ repos, clock, metrics }, [request])
    return result ?? { hasMore: false }
  }

  /** Throws why a task can't be claimed. Opens it, if its lease is over. */
  async function requireClaimable(
    bound: ReturnType<Repositories['within']>,
    { caller, id }: { caller: Caller; id: string },
  ): Promise<void> {
    const task = await bound.tasks.find(id)
    if (!task) throw taskNotFound(id)
    const project = await bound.projects.find(task.projectId)
    if (project) refuseArchived(project)
    const claim = claimOf(task)
    // An assistant has no idempotency key: it may be the one whose response was lost.
    if (claim && caller.channel === 'assistant' && isOwnClaim(actorOf(caller), claim))
      throw claimOfThisKey(id, claim)
    if (claim) throw taskClaimed(id, claim)
    if (isClaimExpired(task)) await openExpired(bound, { clock, metrics, id })
    else if (task.status !== 'open') throw taskNotReady(id, REASONS[task.status])
    if (task.snoozedUntil) throw taskNotReady(id, REASONS.snoozed)
    if (task.question) throw taskNotReady(id, REASONS.asked)
    const blocked = await blockedAmong(bound, [task])
    if (blocked.has(task.id)) throw taskNotReady(id, REASONS.blocked)
  }
}

/** @throws invalid_credentials for a person who was deactivated since the request was authenticated */
async function requireActive(
  { users }: Pick<BoundRepositories, 'users'>,
  { user, channel }: Caller,
): Promise<void> {
  if (!user || (await users.find(user.id))?.isActive) return
  throw channel === 'dashboard' ? sessionEnded() : invalidCredentials()
}

const claimantOf = (caller: Caller, leaseSeconds = DEFAULT_LEASE_SECONDS): Claimant => ({
  actor: actorOf(caller),
  leaseSeconds,
})

const REASONS = {
  in_progress: 'somebody works on it without a claim. Set its status to open first.',
  done: 'it is done. Set its status to open first.',
  blocked: 'a task in its blockedBy has to be done first.',
  snoozed: 'it is snoozed. Set its snoozedUntil to null first.',
  asked: 'its question needs an answer. Somebody who is no assistant has to comment first.',
} satisfies Record<Exclude<Task['status'], 'open'> | 'blocked' | 'snoozed' | 'asked', string>

/**
 * The tasks that a caller can claim.
 * @throws project_not_found, list_not_found, project_archived
 */
async function filterOf(
  { projects, lists }: BoundRepositories,
  { reach, projectId, listId, ...others }: Omit<NextClaim, 'leaseSeconds'> & { reach: Reach },
): Promise<ClaimFilter> {
  const project = projectId === undefined ? undefined : await projects.find(projectId)
  if (projectId !== undefined && !project) throw projectNotFound(projectId)
  if (project) refuseArchived(project)
  const list = listId === undefined ? undefined : await lists.findDestination(listId)
  if (listId !== undefined && !list) throw listNotFound(listId)
  if (list?.isArchived) throw projectArchived(list.projectName)
  const named = project?.id ?? list?.projectId
  return {
    projectIds: named === undefined ? (reach.projectIds ?? undefined) : [named],
    listId: list?.listId,
    isShortList: list && list.openCount <= MAX_SHORT_LIST,
    ...others,
  }
}

/**
 * Locks a task that the caller has claimed.
 * @throws task_not_found, project_archived, claim_lost
 */
async function claimedTask(
  repos: BoundRepositories,
  { caller, id, number }: { caller: Caller; id: string; number: number },
): Promise<TaskRow> {
  const task = writableTask(await lockTasks(repos, { ids: [id.toLowerCase()] }), id)
  const claim = claimOf(task)
  if (claim?.number !== number || claim.by.id !== caller.principal.id) throw claimLost(id, number)
  return task
}

/** Casts: a task that was just claimed has a claim. */
function claimedFor(caller: Caller, task: Task): ClaimedTask {
  const claimed = task as Task & Pick<ClaimedTask, 'claim'>
  return mayReadTasks(caller) ? claimed : onlyClaim(claimed)
}

/** What a caller without `tasks:read` receives after a claim. */
export const onlyClaim = ({ id, version, claim }: ClaimedTask): ClaimedTask => ({ id, version, claim })
