import { AppError, type ClaimRef } from './app-error.ts'

export const taskClaimed = (id: string, claim: ClaimRef) =>
  new AppError('task_claimed', {
    detail: `Task ${id} is claimed until ${claim.expiresAt}. Claim another task, or try again then.`,
    claim,
  })

/** For an assistant, of which several can use the same key. */
export const claimOfThisKey = (id: string, claim: ClaimRef) =>
  new AppError('task_claimed', {
    detail: `Task ${id} is claimed with your key until ${claim.expiresAt}. If you made this claim and got no response, go on with claimNumber ${claim.number}. If not, another assistant works on it: claim another task.`,
    claim,
  })

export const claimNumberMissing = (id: string, claim: ClaimRef) =>
  new AppError('task_claimed', {
    detail: `Task ${id} is claimed until ${claim.expiresAt}. If the claim is yours, set claimNumber to its number. Otherwise, work on another task.`,
    claim,
  })

/** @param reason what prevents the claim, and how to change that. */
export const taskNotReady = (id: string, reason: string) =>
  new AppError('task_not_ready', { detail: `Task ${id} can’t be claimed: ${reason}` })

export const claimLost = (id: string, number: number) =>
  new AppError('claim_lost', {
    detail: `Claim ${number} of task ${id} has ended, or belongs to another key. Stop working on the task, or claim it again.`,
  })
