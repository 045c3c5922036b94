import { claimedByOthers, claimLost, claimOfThisKey } from '../errors/index.ts'
import type { Claim } from '../schemas/claim.ts'
import type { TaskSource } from '../schemas/task.ts'
import type { ActorRef } from './new-task.ts'
import type { StoredTask } from './task.ts'

type ClaimColumns = Pick<
  StoredTask,
  'claimNumber' | 'claimExpiresAt' | 'claimedByType' | 'claimedById' | 'claimedByName'
>

/** The columns of a task that is not claimed. The number stays: the next claim has the next one. */
export const NO_CLAIM = {
  claimExpiresAt: null,
  claimedByType: null,
  claimedById: null,
  claimedByName: null,
} as const satisfies Partial<ClaimColumns>

/** The status that counts: once the lease is over, the task is open, whether or not it was opened yet. */
export const currentStatus = (task: StoredTask): StoredTask['status'] =>
  isClaimExpired(task) ? unclaimedStatus(task) : task.status

/** The claim of a task; null if there is none, or its lease is over. */
export function claimOf({
  claimNumber: number,
  claimExpiresAt,
  claimedByType: type,
  claimedById: id,
  claimedByName: name,
}: ClaimColumns): Claim | null {
  if (claimExpiresAt === null || type === null || name === null) return null
  return { by: { type, id, name }, number, expiresAt: claimExpiresAt.toISOString() }
}

/** Whether the lease is over, and the task was not opened yet. */
export const isClaimExpired = ({ claimExpiresAt, claimedByType }: ClaimColumns): boolean =>
  claimedByType !== null && claimExpiresAt === null

/** The status without the claim: a claim sets `in_progress`, and its end opens the task again. */
export const unclaimedStatus = ({ status, claimedByType }: StoredTask): StoredTask['status'] =>
  claimedByType !== null && status === 'in_progress' ? 'open' : status

/** The claim that a change of somebody else overrides, for the metadata of its activity. */
export function overriddenBy(actor: Pick<ActorRef, 'type' | 'id'>, task: ClaimColumns): object {
  const claim = claimOf(task)
  if (!claim || isOwnClaim(actor, claim)) return {}
  return { overriddenClaim: { number: claim.number, by: claim.by } }
}

/** Whether the actor made the claim. A session of a key is not the assistant that uses the same key. */
export const isOwnClaim = (actor: Pick<ActorRef, 'type' | 'id'>, { by }: Pick<Claim, 'by'>): boolean =>
  actor.id === by.id && (actor.type === 'session') === (by.type === 'session')

interface ClaimedChange {
  /** The claim that the request names. */
  claimNumber: number | undefined
  actor: Pick<ActorRef, 'type' | 'id'>
  channel: TaskSource
  isChange: boolean
}

/**
 * Refuses a change under a claim that has ended. An assistant has to name the claim of a claimed task.
 * @throws claim_lost, task_claimed
 */
export function refuseLostClaim(
  task: StoredTask,
  { claimNumber, actor, channel, isChange }: ClaimedChange,
): void {
  const claim = claimOf(task)
  if (claimNumber === undefined) {
    if (!claim || channel !== 'assistant') return
    throw isOwnClaim(actor, claim) ? claimOfThisKey(task.id, claim) : claimedByOthers(task.id, claim)
  }
  if (claim?.number === claimNumber) return
  // A completion that is repeated, because its response was lost, has ended the claim itself.
  if (!isChange && task.status === 'done' && task.claimNumber === claimNumber) return
  throw claimLost(task.id, claimNumber)
}
