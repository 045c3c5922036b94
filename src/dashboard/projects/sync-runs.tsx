import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { CurlExample } from '../components/curl-example.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { formatExact, RelativeTime } from '../components/relative-time.tsx'
import { plural } from '../lib/plural.ts'
import { sumOf } from '../lib/sum.ts'
import { useLiveEvents } from '../live-updates/live-updates.tsx'
import { BarStrip } from '../pictures/bar-strip.tsx'
import { useMe } from '../session/session.ts'
import { Row, Rows } from '../settings/rows.tsx'
import styles from '../settings/settings.module.css'
import { ActiveRun } from './active-run.tsx'
import { changesOf, durationText, fullCounts, shortCounts } from './sync-run-text.ts'

type Run = Schema<'SyncRun'>
const ACTIVE: Run['status'][] = ['queued', 'running', 'rate_limited']
const POLL_MS = 4_000
const SHOWN_AS_BARS = 30
const SHOWN_AS_LINES = 10

interface SyncRunsProps {
  projectId: string
  repository: string
  /** The text of the button that changes the credentials. */
  renewText: string
  onRenew(): void
  onTryAgain(): void
}

/** The active run with its progress, and past runs. */
export function SyncRuns({ projectId, repository, renewText, onRenew, onTryAgain }: SyncRunsProps) {
  const queryClient = useQueryClient()
  const queryKey = ['syncs', projectId]
  const query = useQuery({
    queryKey,
    queryFn: async () =>
      (
        await dataOf(
          api.GET('/api/codehost/{projectId}/syncs', {
            params: { path: { projectId }, query: { limit: SHOWN_AS_BARS } },
          }),
        )
      ).data,
    // Fallback for progress events of the stream.
    refetchInterval: ({ state }) => (state.data?.some(isActive) ? POLL_MS : false),
  })
  useLiveEvents((events) => {
    for (const { type, data } of events) {
      const run = data as Partial<Run>
      if (type !== 'sync.progress' || run.projectId !== projectId) continue
      const cachedRuns = queryClient.getQueryData<Run[]>(queryKey)
      if (!cachedRuns?.some(({ id }) => id === run.id)) void queryClient.invalidateQueries({ queryKey })
      queryClient.setQueryData<Run[]>(queryKey, (runs) =>
        runs?.map((other) => (other.id === run.id ? { ...other, ...run } : other)),
      )
    }
  })
  const runs = query.data ?? []
  const past = runs.filter((run) => !isActive(run))
  return (
    <div className="stack">
      {runs.filter(isActive).map((run) => (
        <ActiveRun key={run.id} run={run} estimate={estimatedTotal(run, runs)} />
      ))}
      {past.length > 1 && <RunBars runs={past.toReversed()} />}
      <Rows
        label="syncs"
        query={query}
        queryKey={queryKey}
        empty={
          runs.length === 0 && (
            <EmptyState isInSection title={`No syncs from ${repository} yet`}>
              <CurlExample method="POST" path={`/api/codehost/${projectId}/sync`} caption="With curl:" />
            </EmptyState>
          )
        }
      >
        {past.slice(0, SHOWN_AS_LINES).map((run) => (
          <PastRun
            key={run.id}
            run={run}
            isLatest={run === runs[0]}
            renewText={renewText}
            onRenew={onRenew}
            onTryAgain={onTryAgain}
          />
        ))}
      </Rows>
    </div>
  )
}

const isActive = ({ status }: Run) => ACTIVE.includes(status)

/** A full run fetches about as many items as the previous one; the total of an incremental run is unknown. */
const estimatedTotal = ({ mode }: Run, runs: Run[]) =>
  (mode === 'full' &&
    runs.find((run) => run.mode === 'full' && run.status === 'completed' && run.fetched > 0)?.fetched) ||
  undefined

/** In the order of time. The lines beneath have the figures of the latest. */
function RunBars({ runs }: { runs: Run[] }) {
  const failed = runs.filter(({ status }) => status === 'failed').length
  const label = `The last ${runs.length} syncs: ${plural(sumOf(runs.map(changesOf)), 'change')}, ${failed} failed`
  return (
    <div className="row row-wrap">
      <BarStrip
        label={label}
        bars={runs.map((run) => ({
          succeeded: changesOf(run),
          failed: run.status === 'failed' ? 1 : 0,
          title: titleOf(run),
        }))}
      />
      <span className="quiet small" aria-hidden>
        {label}
      </span>
    </div>
  )
}

const titleOf = (run: Run) => {
  const time = run.finishedAt ?? run.startedAt
  return `${time ? formatExact(time) : ''}\n${run.error?.message ?? shortCounts(run)}`.trim()
}

interface PastRunProps {
  run: Run
  isLatest: boolean
  /** The text of the button that changes the credentials. */
  renewText: string
  onRenew(): void
  onTryAgain(): void
}

function PastRun({ run, isLatest, renewText, onRenew, onTryAgain }: PastRunProps) {
  const { can } = useMe()
  const needsAccess = run.error !== null && isAboutAccess(run.error.code)
  const time = run.finishedAt ?? run.startedAt
  const duration = durationText(run)
  const action = needsAccess
    ? can('admin') && (
        <Button variant="default" onClick={onRenew}>
          {renewText}
        </Button>
      )
    : can('codehost:sync') && (
        <Button variant="default" onClick={onTryAgain}>
          Try again
        </Button>
      )
  return (
    <Row
      name={time && <RelativeTime dateTime={time} />}
      beside={
        <span className="quiet">
          {duration && `${duration} · `}
          <span title={fullCounts(run)}>{shortCounts(run)}</span>
          {run.mode === 'full' && ' · full sync'}
          {run.gone > 0 && ` · ${run.gone} deleted upstream`}
        </span>
      }
      actions={isLatest && run.error && action}
    >
      {run.error && <div className={`small ${styles.error}`}>{run.error.message}</div>}
      {run.skipped.length > 0 && <Skipped items={run.skipped} />}
    </Row>
  )
}

function Skipped({ items: skipped }: { items: Run['skipped'] }) {
  return (
    <details className={`small quiet ${styles.skipped}`}>
      <summary>{skipped.length.toLocaleString()} skipped</summary>
      <ul>
        {skipped.slice(0, SKIPPED_SHOWN).map(({ number, reason }) => (
          <li key={number}>
            #{number}: {REASONS[reason] ?? reason}
          </li>
        ))}
      </ul>
      {skipped.length > SKIPPED_SHOWN && <p>And {skipped.length - SKIPPED_SHOWN} more.</p>}
    </details>
  )
}

const SKIPPED_SHOWN = 50
const REASONS: Record<string, string> = { deleted_here: 'deleted in Inlet' }

const isAboutAccess = (code: string) => /token|access|repository|denied|unauthorized/.test(code)
