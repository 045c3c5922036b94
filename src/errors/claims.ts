import { AppError, type ClaimRef } from './app-error.ts'

export const taskClaimed = (id: string, claim: ClaimRef) =>
  new AppError('task_claimed', {
    detail: `Task ${id} is claimed until ${claim.expiresAt}. Claim another task, or try again then.`,
    claim,
  })

/** For an assistant, of which several can use the same key, or keys of the same person. */
export const claimOfThisKey = (id: string, claim: ClaimRef) =>
  new AppError('task_claimed', {
    detail: `Task ${id} is already claimed with your key, or by its person, until ${claim.expiresAt}: go on with claimNumber ${claim.number}. Only if somebody else made this claim, leave the task to them.`,
    claim,
  })

/** For an assistant: people change claimed tasks without the claim. */
export const claimedByOthers = (id: string, claim: ClaimRef) =>
  new AppError('task_claimed', {
    detail: `Task ${id} is claimed by somebody else until ${claim.expiresAt}. Work on another task.`,
    claim,
  })

/** @param reason what prevents the claim, and how to change that. */
export const taskNotReady = (id: string, reason: string) =>
  new AppError('task_not_ready', { detail: `Task ${id} can’t be claimed: ${reason}` })

export const taskDone = (id: string) =>
  new AppError('task_done', {
    detail: `Task ${id} is done, and waits for no answer. Set its status to open first, or comment without needsAnswer.`,
  })

export const claimLost = (id: string, number: number) =>
  new AppError('claim_lost', {
    detail: `Claim ${number} of task ${id} has ended, or belongs to somebody else. Stop working on the task, or claim it again.`,
  })
