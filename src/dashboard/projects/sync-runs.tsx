import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { Curl } from '../components/curl.tsx'
import { NotLoaded } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useLiveEvents } from '../live-updates/live-updates.tsx'
import { useMe } from '../session/session.ts'
import styles from '../settings/settings.module.css'
import { ActiveRun } from './active-run.tsx'
import { countsInWords, countsOf, lengthOf } from './sync-run-text.ts'

type Run = Schema<'SyncRun'>
const ACTIVE: Run['status'][] = ['queued', 'running', 'rate_limited']
const POLL_MS = 4_000

interface SyncRunsProps {
  projectId: string
  repository: string
  onRenewToken(): void
  onTryAgain(): void
}

/** The run under way, as it goes, and those before it, a line each. */
export function SyncRuns({ projectId, repository, onRenewToken, onTryAgain }: SyncRunsProps) {
  const cache = useQueryClient()
  const queryKey = ['syncs', projectId]
  const query = useQuery({
    queryKey,
    queryFn: async () =>
      (
        await dataOf(
          api.GET('/api/codehost/{projectId}/syncs', {
            params: { path: { projectId }, query: { limit: 10 } },
          }),
        )
      ).data,
    // Progress comes by the stream; this is for when the stream does not.
    refetchInterval: ({ state }) => (state.data?.some(isActive) ? POLL_MS : false),
  })
  useLiveEvents((events) => {
    for (const { type, data } of events) {
      const run = data as Partial<Run>
      if (type !== 'sync.progress' || run.projectId !== projectId) continue
      const known = cache.getQueryData<Run[]>(queryKey)
      if (!known?.some(({ id }) => id === run.id)) void cache.invalidateQueries({ queryKey })
      cache.setQueryData<Run[]>(queryKey, (runs) =>
        runs?.map((other) => (other.id === run.id ? { ...other, ...run } : other)),
      )
    }
  })
  const runs = query.data ?? []
  if (query.isError) return <NotLoaded what="The runs" query={query} />
  return (
    <div className="stack">
      {runs.filter(isActive).map((run) => (
        <ActiveRun key={run.id} run={run} expected={expectedOf(run, runs)} />
      ))}
      {runs.length === 0 && query.isSuccess && (
        <>
          <p className="quiet small" style={{ margin: 0 }}>
            Nothing was synced from {repository} yet.
          </p>
          <Curl method="POST" path={`/api/codehost/${projectId}/sync`} />
        </>
      )}
      <ul className={styles.rows}>
        {runs
          .filter((run) => !isActive(run))
          .map((run) => (
            <PastRun
              key={run.id}
              run={run}
              isLatest={run === runs[0]}
              onRenewToken={onRenewToken}
              onTryAgain={onTryAgain}
            />
          ))}
      </ul>
    </div>
  )
}

const isActive = ({ status }: Run) => ACTIVE.includes(status)

/** A full run meets about as many as the one before it; how many have changed nobody knows beforehand. */
const expectedOf = ({ mode }: Run, runs: Run[]) =>
  (mode === 'full' &&
    runs.find((run) => run.mode === 'full' && run.status === 'completed' && run.fetched > 0)?.fetched) ||
  undefined

interface PastRunProps {
  run: Run
  isLatest: boolean
  onRenewToken(): void
  onTryAgain(): void
}

function PastRun({ run, isLatest, onRenewToken, onTryAgain }: PastRunProps) {
  const { can } = useMe()
  const needsAccess = run.error !== null && isAboutAccess(run.error.code)
  const at = run.finishedAt ?? run.startedAt
  return (
    <li className={styles.item} style={{ minHeight: 40 }}>
      <div className={styles.main}>
        <span>
          {at && <RelativeTime at={at} />}
          <span className="quiet">
            {lengthOf(run)} · <span title={countsInWords(run)}>{countsOf(run)}</span>
            {run.mode === 'full' && ' · everything checked'}
            {run.gone > 0 && ` · ${run.gone} gone there`}
          </span>
        </span>
        {run.error && (
          <div className="small breakable" style={{ color: 'var(--red)' }}>
            {run.error.message}
          </div>
        )}
        {run.skipped.length > 0 && <Skipped of={run.skipped} />}
      </div>
      {/* Only the latest can still be helped, and by whom its help is allowed. */}
      {run.error && isLatest && needsAccess && can('admin') && (
        <Button variant="default" onClick={onRenewToken}>
          Renew token
        </Button>
      )}
      {run.error && isLatest && !needsAccess && can('codehost:sync') && (
        <Button variant="default" onClick={onTryAgain}>
          Try again
        </Button>
      )}
    </li>
  )
}

function Skipped({ of: skipped }: { of: Run['skipped'] }) {
  return (
    <details className={`small quiet ${styles.skipped}`}>
      <summary>{skipped.length.toLocaleString()} left alone</summary>
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
const REASONS: Record<string, string> = { deleted_here: 'deleted here, and stays so' }

const isAboutAccess = (code: string) => /token|access|repository|denied|unauthorized/.test(code)
