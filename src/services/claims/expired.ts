import { NO_CLAIM } from '../../domain/claim.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ClaimFilter, ExpiredClaim } from '../../repositories/claims.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import { activityRow, SERVICE } from '../activity/row.ts'
import type { Recorder } from '../recorder.ts'

/** Opened by one transaction, which locks them: about 10 ms. */
const BATCH = 100

interface Expired {
  clock: Clock
  metrics: Pick<Recorder, 'claimed'>
  filter?: ClaimFilter
  id?: string
}

/** Opens tasks whose lease is over, and logs it. Returns whether there may be more. */
export async function openExpired(
  bound: ReturnType<Repositories['within']>,
  { metrics, ...which }: Expired,
): Promise<boolean> {
  const { opened, hasMore } = await bound.transaction((repos) => openSome(repos, which))
  if (opened > 0) metrics.claimed('expired', opened)
  return hasMore
}

async function openSome(
  { claims, tasks, activity }: BoundRepositories,
  { clock, ...which }: Omit<Expired, 'metrics'>,
): Promise<{ opened: number; hasMore: boolean }> {
  const expired = await claims.listExpired({ ...which, limit: BATCH })
  if (expired.length === 0) return { opened: 0, hasMore: false }
  const updatedAt = clock.now()
  const isClaim = ({ status }: ExpiredClaim) => status === 'in_progress'
  const opened = expired.filter(isClaim)
  await tasks.updateMany(idsOf(opened), { ...NO_CLAIM, status: 'open', updatedAt })
  // An instance of an earlier version may have completed a task, and left its claim.
  const others = expired.filter((claim) => !isClaim(claim))
  if (others.length > 0) await tasks.updateMany(idsOf(others), { ...NO_CLAIM, updatedAt })
  await activity.insert(
    opened.map(({ id: taskId, projectId, claimNumber: number, ...claim }) => {
      const by = { type: claim.claimedByType, id: claim.claimedById, name: claim.claimedByName }
      const metadata = { number, by, expiresAt: claim.claimExpiresAt?.toISOString() }
      const about = { taskId, projectId, metadata }
      return activityRow(clock, { now: updatedAt, type: 'task.claim_expired', actor: SERVICE, ...about })
    }),
  )
  return { opened: opened.length, hasMore: expired.length === BATCH }
}

const idsOf = (claims: ExpiredClaim[]) => claims.map(({ id }) => id)
