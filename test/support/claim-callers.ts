import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { ClaimEvent } from './claim-history.ts'
import { newTally, retryingClient, type Tally } from './retrying-client.ts'

interface CallersOptions {
  targets: () => string[]
  callers: number
  /** Until so many claims were made. */
  claims: number
}

export interface Callers {
  events: ClaimEvent[]
  tally: Tally
  claimed(): number
  /** Claims that may have been made without a response: of requests that were repeated without a key. */
  lostResponses(): number
  ended: Promise<unknown>
}

/** Callers that claim, work, and complete, release or lose their tasks; every call with an effect is recorded. */
export function startCallers({ targets, callers, claims }: CallersOptions): Callers {
  const events: ClaimEvent[] = []
  const tally = newTally()
  let claimed = 0
  let lostResponses = 0
  const ended = Promise.all(Array.from({ length: callers }, (_, nth) => work(nth)))
  return { events, tally, claimed: () => claimed, lostResponses: () => lostResponses, ended }

  async function work(nth: number) {
    const client = retryingClient(targets, tally)
    while (claimed < claims) {
      const claim = await claimNext(nth)
      if (!claim) await sleep(5)
      else await useClaim(claim)
    }
    client.close()

    /** Half of the callers send a key, and get the same claim again when the response was lost. */
    async function claimNext(nth: number) {
      const headers = nth % 2 ? { 'idempotency-key': randomUUID() } : {}
      const sentAt = performance.now()
      const { status, body, attempts } = await client.send({
        method: 'POST',
        path: '/api/tasks/claim',
        headers,
        body: {},
      })
      if (nth % 2 === 0) lostResponses += attempts - 1
      if (status === 204) return undefined
      expect(status).toBe(200)
      claimed++
      const claim = { taskId: body.id, number: body.claim.number }
      record('claim', { ...claim, sentAt, version: body.version })
      return claim
    }

    async function useClaim(claim: Pick<ClaimEvent, 'taskId' | 'number'>) {
      const dice = Math.random()
      if (dice < 0.2) await write(claim)
      if (dice > 0.9) await renew(claim)
      // As one that hangs: its lease may end meanwhile.
      if (dice > 0.95) {
        await sleep(100)
        await write(claim)
      }
      if (dice < 0.1) await complete(claim)
      else await release(claim)
      if (dice > 0.9) await write(claim)
    }

    async function write(claim: Pick<ClaimEvent, 'taskId' | 'number'>) {
      const body = { notes: randomUUID(), claimNumber: claim.number }
      const sentAt = performance.now()
      const {
        status,
        body: task,
        attempts,
      } = await client.send({ method: 'PATCH', path: pathOf(claim), body })
      if (status === 200 && attempts === 1) record('write', { ...claim, sentAt, version: task.version })
      if (status !== 200) expect([status, task.code]).toEqual([409, 'claim_lost'])
    }

    async function renew(claim: Pick<ClaimEvent, 'taskId' | 'number'>) {
      const sentAt = performance.now()
      const path = `${pathOf(claim)}/claim/renew`
      const { status, body } = await client.send({ method: 'POST', path, body: { number: claim.number } })
      if (status === 200) record('renewal', { ...claim, sentAt })
      else expect([status, body.code]).toEqual([409, 'claim_lost'])
    }

    /** And opens the task again, as a person would. */
    async function complete(claim: Pick<ClaimEvent, 'taskId' | 'number'>) {
      const body = { status: 'done', claimNumber: claim.number }
      const sentAt = performance.now()
      const { status, body: task } = await client.send({ method: 'PATCH', path: pathOf(claim), body })
      if (status !== 200) return expect([status, task.code]).toEqual([409, 'claim_lost'])
      record('end', { ...claim, sentAt })
      const headers = { 'if-match': `"${task.version}"` }
      await client.send({ method: 'PATCH', path: pathOf(claim), headers, body: { status: 'open' } })
    }

    async function release(claim: Pick<ClaimEvent, 'taskId' | 'number'>) {
      const sentAt = performance.now()
      const path = `${pathOf(claim)}/claim?number=${claim.number}`
      const { status, body, attempts } = await client.send({ method: 'DELETE', path })
      if (status !== 204) expect([status, body.code]).toEqual([409, 'claim_lost'])
      // If it was repeated, the first one may have released it.
      if (status === 204 || attempts > 1) record('end', { ...claim, sentAt })
    }

    function record(kind: ClaimEvent['kind'], event: Omit<ClaimEvent, 'kind' | 'returnedAt'>) {
      events.push({ ...event, kind, returnedAt: performance.now() })
    }
  }
}

const pathOf = ({ taskId }: Pick<ClaimEvent, 'taskId'>) => `/api/tasks/${taskId}`
