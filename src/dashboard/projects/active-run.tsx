import { useEffect, useState } from 'react'
import type { Schema } from '../api/client.ts'
import { serverTime } from '../api/server-clock.ts'
import { ProgressBar } from '../components/progress-bar.tsx'
import { countsOf, timeUntil } from './sync-run-text.ts'

type Run = Schema<'SyncRun'>
/** So many entries come with one request. */
const A_PAGE = 100

interface ActiveRunProps {
  run: Run
  /** About how many there will be, where an earlier run that saw everything tells. */
  expected: number | undefined
}

/** A run under way: how far it is, what it brought so far, and until when it waits. */
export function ActiveRun({ run, expected }: ActiveRunProps) {
  const { status, fetched } = run
  return (
    <div role="status" className="stack" style={{ gap: 6 }}>
      <ProgressBar
        label="Progress of the sync"
        // The last entries are no more than reckoned: it is full when the run has ended.
        share={expected ? Math.min(fetched / expected, 0.99) : undefined}
        isMoving={status === 'running'}
      />
      <span className="small">
        {status === 'queued' && 'Waiting for its turn'}
        {status === 'running' && (
          <>
            {expected ? 'Syncing' : `Syncing, page ${Math.floor(fetched / A_PAGE) + 1}`}:{' '}
            {soFar(run, expected)}, {countsOf(run)}
          </>
        )}
        {status === 'rate_limited' && (
          <>
            Waiting for the code host’s rate limit. It continues by itself{' '}
            {run.retryAt ? <Countdown to={run.retryAt} /> : 'soon'}. {soFar(run, expected)} so far; nothing of
            it is lost.
          </>
        )}
      </span>
    </div>
  )
}

/** Told each second by the service's clock; once it is over the run may still wait for its turn. */
function Countdown({ to }: { to: string }) {
  const [now, setNow] = useState(() => serverTime(Date.now()))
  useEffect(() => {
    const timer = setInterval(() => setNow(serverTime(Date.now())), 1_000)
    return () => clearInterval(timer)
  }, [])
  const left = timeUntil(to, now)
  // Those who listen are told once, not each second.
  return (
    <>
      <span className="visually-hidden">at {clock.format(new Date(to))}</span>
      <span aria-hidden>{left ? `in ${left}, at ${clock.format(new Date(to))}` : 'any moment now'}</span>
    </>
  )
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

const soFar = ({ fetched }: Run, expected: number | undefined) =>
  `${fetched.toLocaleString()}${expected ? ` of about ${expected.toLocaleString()}` : ''} fetched`
