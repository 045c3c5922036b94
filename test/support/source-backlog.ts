import { timeShares } from '../../src/lib/time-shares.ts'
import { startApp, type TestApp, type TestAppOptions } from './app.ts'
import type { SentSource } from './sources.ts'

const SHARE_MS = 1_000
const WINDOW_MS = 10_000

export type BacklogApp = Awaited<ReturnType<typeof startBacklogApp>>

/** A service whose sources have used as much of their share as the test says. */
export async function startBacklogApp(options: TestAppOptions = {}) {
  let now = 0
  const shares = timeShares({ shareMs: SHARE_MS, windowMs: WINDOW_MS, now: () => now })
  const app = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32) }, ...options, sourceShares: shares })
  return {
    ...app,
    /** As if the source had used up its share. */
    useUp: ({ source }: SentSource) => shares.record(source.id, SHARE_MS),
    /** All sources have their share again, and what is pending is due. */
    async renew() {
      now += WINDOW_MS
      await app.query(`update source_backlog set due_at = now() - interval '1 second'`)
    },
    process: () => processPending(app),
  }
}

/** Does what the job does each second. */
export async function processPending(
  { service: { sourceBacklog } }: Pick<TestApp, 'service'>,
  signal = new AbortController().signal,
) {
  const errors: unknown[] = []
  await sourceBacklog.startDue({ signal, onError: (error) => errors.push(error) })
  await sourceBacklog.whenIdle()
  if (errors.length > 0) throw errors[0]
}

/** What a source has made: its tasks and what happened to them, in order. */
export async function madeBy({ query }: Pick<TestApp, 'query'>, { source }: Pick<SentSource, 'source'>) {
  return query(
    `select title, status, external_id, version, (
       select json_agg(type order by id) from activity where task_id = tasks.id) as activity
     from tasks where source_id = $1 order by id`,
    [source.id],
  )
}
