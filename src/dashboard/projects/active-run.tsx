import type { Schema } from '../api/client.ts'
import { Moment } from '../parts/moment.tsx'
import { ProgressBar } from '../parts/progress-bar.tsx'
import { countsOf } from './run-words.ts'

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
            The code host asks for a pause; it goes on by itself{' '}
            {run.retryAt ? (
              <>
                at {clock.format(new Date(run.retryAt))} (<Moment at={run.retryAt} />)
              </>
            ) : (
              'soon'
            )}
            . {soFar(run, expected)} so far; nothing of it is lost.
          </>
        )}
      </span>
    </div>
  )
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

const soFar = ({ fetched }: Run, expected: number | undefined) =>
  `${fetched.toLocaleString()}${expected ? ` of about ${expected.toLocaleString()}` : ''} fetched`
