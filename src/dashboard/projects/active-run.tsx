import { useEffect, useState } from 'react'
import type { Schema } from '../api/client.ts'
import { toServerTime } from '../api/server-clock.ts'
import { ProgressBar } from '../components/progress-bar.tsx'
import { shortCounts, timeUntil } from './sync-run-text.ts'

type Run = Schema<'SyncRun'>
/** The page size of the code host's API. */
const ITEMS_PER_PAGE = 100

interface ActiveRunProps {
  run: Run
  /** The estimated total, if an earlier full run is known. */
  expected: number | undefined
}

/** The progress of a run, or the time at which it continues. */
export function ActiveRun({ run, expected }: ActiveRunProps) {
  const { status, fetched } = run
  return (
    <div role="status" className="stack" style={{ gap: 6 }}>
      <ProgressBar
        label="Sync progress"
        // The total is an estimate: below 100 % until the run has ended.
        fraction={expected ? Math.min(fetched / expected, 0.99) : undefined}
        isRunning={status === 'running'}
      />
      <span className="small">
        {status === 'queued' && 'Queued'}
        {status === 'running' && (
          <>
            {expected ? 'Syncing' : `Syncing, page ${Math.floor(fetched / ITEMS_PER_PAGE) + 1}`}:{' '}
            {progressText(run, expected)}, {shortCounts(run)}
          </>
        )}
        {status === 'rate_limited' && (
          <>
            Rate limited by the code host. Continues{' '}
            {run.retryAt ? <Countdown until={run.retryAt} /> : 'soon'}. {progressText(run, expected)} so far.
          </>
        )}
      </span>
    </div>
  )
}

/** Uses the service's clock. At zero the run may still be queued. */
function Countdown({ until }: { until: string }) {
  const [now, setNow] = useState(() => toServerTime(Date.now()))
  useEffect(() => {
    const timer = setInterval(() => setNow(toServerTime(Date.now())), 1_000)
    return () => clearInterval(timer)
  }, [])
  const left = timeUntil(until, now)
  if (!left) return 'soon'
  const time = clock.format(new Date(until))
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

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

const progressText = ({ fetched }: Run, expected: number | undefined) =>
  `${fetched.toLocaleString()}${expected ? ` of about ${expected.toLocaleString()}` : ''} fetched`
