import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import { activityRow, SERVICE } from '../activity/row.ts'

/** So many deliveries in a row that take too long to render switch their source off. */
const MAX_IN_ROW = 10

interface SlowDelivery {
  clock: Clock
  source: Pick<SourceRow, 'id' | 'name' | 'projectId'>
}

/** Counts a delivery that took too long to render, in the transaction that stores it. */
export async function countSlow(repos: BoundRepositories, { clock, source }: SlowDelivery): Promise<void> {
  const { id: sourceId, name, projectId } = source
  const isOff = await repos.sources.countSlow(sourceId, { maxInRow: MAX_IN_ROW })
  if (!isOff) return
  const metadata = { sourceId, name, reason: 'slow' }
  const row = activityRow(clock, {
    ...{ now: clock.now(), type: 'source.disabled', actor: SERVICE, projectId, metadata },
  })
  await repos.activity.insert([row])
}
