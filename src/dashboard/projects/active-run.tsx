import { useEffect, useState } from 'react'
import type { Schema } from '../api/client.ts'
import { serverNow } from '../api/server-clock.ts'
import { clockTime } from '../components/clock-time.ts'
import { ProgressBar } from '../components/progress-bar.tsx'
import { shortCounts, timeUntil } from './sync-run-text.ts'

type Run = Schema<'SyncRun'>
/** The page size of the code host's API. */
const ITEMS_PER_PAGE = 100

interface ActiveRunProps {
  run: Run
  /** What an earlier full run fetched, if one is known. */
  estimate: number | undefined
}

/** The progress of a run, or the time at which it continues. */
export function ActiveRun({ run, estimate }: ActiveRunProps) {
  const { status, fetched } = run
  const expected = run.total ?? estimate
  return (
    <div role="status" className="stack" style={{ gap: 6 }}>
      <ProgressBar
        label="Sync progress"
        // More may be fetched than there were at the start: below 100 % until the run has ended.
        fraction={expected ? Math.min(fetched / expected, 0.99) : undefined}
        isRunning={status === 'running'}
      />
      <span className="small">
        {status === 'queued' && 'Queued'}
        {status === 'running' && (
          <>
            {expected ? 'Syncing' : `Syncing, page ${Math.floor(fetched / ITEMS_PER_PAGE) + 1}`}:{' '}
            {progressText(run, estimate)}, {shortCounts(run)}
          </>
        )}
        {status === 'rate_limited' && (
          <>
            Rate limited by the code host. Continues{' '}
            {run.retryAt ? <Countdown until={run.retryAt} /> : 'soon'}. {progressText(run, estimate)} so far.
          </>
        )}
      </span>
    </div>
  )
}

/** Uses the service's clock. At zero the run may still be queued. */
function Countdown({ until }: { until: string }) {
  const [now, setNow] = useState(() => serverNow())
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 1_000)
    return () => clearInterval(timer)
  }, [])
  const left = timeUntil(until, now)
  if (!left) return 'soon'
  const time = clockTime(until, { now: new Date(now) })
  // Screen readers announce the time once, not each second.
  return (
    <>
      <span className="visually-hidden">at {time}</span>
      <span aria-hidden>
        in {left}, at {time}
      </span>
    </>
  )
}

function progressText({ fetched, total }: Run, estimate: number | undefined) {
  const of = total
    ? ` of ${total.toLocaleString()}`
    : estimate
      ? ` of about ${estimate.toLocaleString()}`
      : ''
  return `${fetched.toLocaleString()}${of} fetched`
}
