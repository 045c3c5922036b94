import type { Static } from '@sinclair/typebox'
import { validationFailed } from '../../errors/index.ts'
import type { Claim } from '../../schemas/claim.ts'
import type { ClaimedTask, NextClaim } from '../../schemas/claim-requests.ts'
import { ClaimResult } from '../../schemas/tool-results.ts'
import { BUDGET_OF_TASK, ClaimTaskInput } from '../../schemas/tools.ts'
import { claimOperations } from '../../services/claims/index.ts'
import { argumentErrors, refuseArguments } from './arguments.ts'
import { briefResult, wholeResult } from './task-results.ts'
import { creates, openWorld, type Tool, tool } from './tool.ts'

export const claimTask: Tool = tool({
  name: 'claim_task',
  title: 'Claim a task',
  description:
    'Claims a task, so that nobody else works on it: the one with the id, or without it the most important ready task that matches the filters. Returns the task with claim.number, which update_task needs as claimNumber, and claim.expiresAt: renew before that. release gives the task back. If claim is null, no task is ready.',
  operation: claimOperations.claim,
  annotations: { ...creates, ...openWorld },
  input: ClaimTaskInput,
  output: ClaimResult,
  async run({ leaseSeconds, ...args }, { caller, claims }) {
    const request = requestOf(args)
    const lease = leaseSeconds === undefined ? {} : { leaseSeconds }
    switch (request.action) {
      case 'claim next': {
        const task = await claims.claimNext(caller, { ...request.filters, ...lease })
        return task ? claimed(task) : NOTHING_READY
      }
      case 'claim':
        return claimed(await claims.claim(caller, { id: request.id, ...lease }))
      case 'renew': {
        const task = await claims.renew(caller, { id: request.id, number: request.number, ...lease })
        const { data, text } = briefResult(`Renewed. ${claimText(task.claim)}`, task)
        return { data: { ...data, claim: task.claim }, text }
      }
      case 'release':
        await claims.release(caller, request)
        return {
          data: { id: request.id, status: 'open', claim: null },
          text: () => `Released task ${request.id}.`,
        }
    }
  },
})

/** With what is needed to begin. */
function claimed(task: ClaimedTask) {
  const summary = `Claimed. ${claimText(task.claim)}`
  const { data, text } = wholeResult(summary, { task, budgetTokens: BUDGET_OF_TASK })
  return { data: { ...data, claim: task.claim }, text }
}

const claimText = ({ number, expiresAt }: Claim) => `Pass claimNumber ${number}, until ${expiresAt}.`

const NO_TASK = 'No task that matches is ready.'
const NOTHING_READY = { data: { claim: null, message: NO_TASK }, text: () => NO_TASK }

type ClaimRequest =
  | { action: 'claim next'; filters: Omit<NextClaim, 'leaseSeconds'> }
  | { action: 'claim'; id: string }
  | { action: 'renew' | 'release'; id: string; number: number }

/** @throws validation_failed for arguments that do not belong together. */
function requestOf({
  action = 'claim',
  id,
  claimNumber: number,
  ...filters
}: Omit<Static<typeof ClaimTaskInput>, 'leaseSeconds'>): ClaimRequest {
  const others = argumentErrors(filters, 'selects the next ready task; it is not supported with an id')
  if (action === 'claim') {
    refuseArguments({ claimNumber: number }, 'is only for renew and release')
    if (id === undefined) return { action: 'claim next', filters }
    if (others.length > 0) throw validationFailed(others)
    return { action, id }
  }
  if (id !== undefined && number !== undefined && others.length === 0) return { action, id, number }
  throw validationFailed([
    ...(id === undefined ? [required('id')] : []),
    ...(number === undefined ? [required('claimNumber')] : []),
    ...others,
  ])
}

const required = (name: string) => ({
  path: `/${name}`,
  code: 'required',
  message: 'is required for renew and release',
})
