import { isUnavailable } from '../../errors/index.ts'
import { batcher } from '../../lib/batcher.ts'
import type { Clock } from '../../lib/clock.ts'
import { CLAIM_BATCHES, type ClaimFilter, type NewClaimRow } from '../../repositories/claims.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { Recorder } from '../recorder.ts'
import { openExpired } from './expired.ts'

export interface NextClaimRequest extends Claimant {
  filter: ClaimFilter
}

export type Claimant = Pick<NewClaimRow, 'actor' | 'leaseSeconds'>

/** The claimed task as JSON text, if any; else whether there are others, which are locked. */
export interface NextClaimResult {
  json?: string | undefined
  hasMore: boolean
}

interface ClaimsDeps {
  repos: Repositories
  clock: Clock
  metrics: Pick<Recorder, 'claimed'>
}

/** Claims of the next tasks, outside any transaction; concurrent ones with the same filter share statements. */
export function sharedClaimsOf(deps: ClaimsDeps) {
  const claim = batcher(claimAll, {
    name: 'claim tasks',
    maxItems: CLAIM_BATCHES[0],
    concurrency: 2,
    maxBytes: 1,
    bytesOf: () => 0,
    isForAll: isUnavailable,
  })

  return async function claimShared(request: NextClaimRequest): Promise<NextClaimResult> {
    const result = await claim(request)
    if ('error' in result) throw result.error
    return result
  }

  /** An error is a result: the batcher would repeat requests whose tasks are claimed already. */
  async function claimAll(requests: NextClaimRequest[]): Promise<(NextClaimResult | { error: unknown })[]> {
    const results = new Map<NextClaimRequest, NextClaimResult | { error: unknown }>()
    for (const group of Map.groupBy(requests, ({ filter }) => JSON.stringify(filter)).values()) {
      for (let left = group; left.length > 0; ) {
        const size = CLAIM_BATCHES.find((size) => size <= left.length) ?? 1
        const some = left.slice(0, size)
        left = left.slice(size)
        const claimed = await claimNext(deps, some).catch((error) => some.map(() => ({ error })))
        for (const [index, request] of some.entries()) {
          results.set(request, claimed[index] ?? { hasMore: false })
        }
      }
    }
    return requests.map((request) => results.get(request) ?? { hasMore: false })
  }
}

/**
 * Claims a task for each request, as far as there are any. All requests have the same filter, and their number is one of
 * `CLAIM_BATCHES`. Opens tasks whose lease is over first: they are ready, too.
 */
export async function claimNext(
  { repos, clock, metrics }: ClaimsDeps,
  requests: NextClaimRequest[],
): Promise<NextClaimResult[]> {
  const bound = repos.within(everywhere)
  const filter = requests[0]?.filter ?? {}
  const rows = () => requests.map((request) => newClaim(clock, request))
  let claimed = await bound.claims.claimNext(rows(), { filter, skipsExpired: false })
  if (claimed.hasExpired) {
    await openExpired(bound, { clock, metrics, filter })
    claimed = await bound.claims.claimNext(rows(), { filter, skipsExpired: true })
  }
  const { tasks, hasMore } = claimed
  const count = tasks.filter((json) => json !== undefined).length
  if (count > 0) metrics.claimed('made', count)
  return tasks.map((json) => ({ json, hasMore }))
}

/** Made when nothing is left to be logged before: activities are in the order of their ids. */
export function newClaim(clock: Clock, { actor, leaseSeconds }: Claimant): NewClaimRow {
  const now = clock.now()
  return { activityId: clock.newId(now), actor, leaseSeconds, now }
}
