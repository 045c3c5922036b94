import { Button, Progress } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { answerOf, api, type Schema } from '../api/client.ts'
import { useLiveEvents } from '../live/live.tsx'
import { Moment } from '../parts/moment.tsx'
import { NotLoaded } from '../parts/not-loaded.tsx'
import styles from '../settings/settings.module.css'

type Run = Schema<'SyncRun'>
const ACTIVE: Run['status'][] = ['queued', 'running', 'rate_limited']
const POLL_MS = 4_000

interface SyncRunsProps {
  projectId: string
  repository: string
  onRenewToken(): void
}

/** The run under way, as it goes, and those before it, a line each. */
export function SyncRuns({ projectId, repository, onRenewToken }: SyncRunsProps) {
  const cache = useQueryClient()
  const queryKey = ['syncs', projectId]
  const query = useQuery({
    queryKey,
    queryFn: async () =>
      (
        await answerOf(
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
        <ActiveRun key={run.id} run={run} />
      ))}
      {runs.length === 0 && query.isSuccess && (
        <p className="quiet small">Nothing was synced from {repository} yet.</p>
      )}
      <ul className={styles.rows}>
        {runs
          .filter((run) => !isActive(run))
          .map((run) => (
            <PastRun key={run.id} run={run} onRenewToken={onRenewToken} />
          ))}
      </ul>
    </div>
  )
}

const isActive = ({ status }: Run) => ACTIVE.includes(status)

function ActiveRun({ run }: { run: Run }) {
  const fetched = `${run.fetched.toLocaleString()} fetched`
  return (
    <div role="status" className="stack" style={{ gap: 6 }}>
      {/* The code host does not say how many there are: the bar moves, the counts grow. */}
      <Progress value={100} striped animated={run.status === 'running'} aria-label="Progress of the sync" />
      <span className="small">
        {run.status === 'queued' && 'Waiting for its turn'}
        {run.status === 'running' && `Syncing: ${fetched}, ${countsOf(run)}`}
        {run.status === 'rate_limited' && (
          <>
            The code host asks for a pause; it goes on by itself{' '}
            {run.retryAt ? <Moment at={run.retryAt} /> : 'soon'}. {fetched} so far.
          </>
        )}
      </span>
    </div>
  )
}

function PastRun({ run, onRenewToken }: { run: Run; onRenewToken(): void }) {
  const at = run.finishedAt ?? run.startedAt
  const skipped = run.skipped.length
  return (
    <li className={styles.item} style={{ minHeight: 40 }}>
      <div className={styles.main}>
        <span>
          {at && <Moment at={at} />}
          <span className="quiet">
            {lengthOf(run)} · {countsOf(run)}
            {run.mode === 'full' && ' · everything checked'}
            {run.gone > 0 && ` · ${run.gone} gone there`}
            {skipped > 0 && (
              <span title={run.skipped.map(({ number, reason }) => `#${number}: ${reason}`).join('\n')}>
                {` · ${skipped} skipped`}
              </span>
            )}
          </span>
        </span>
        {run.error && (
          <div className="small breakable" style={{ color: 'var(--red)' }}>
            {run.error.message}
          </div>
        )}
      </div>
      {run.error && isAboutAccess(run.error.code) && (
        <Button variant="default" onClick={onRenewToken}>
          Renew token
        </Button>
      )}
    </li>
  )
}

const isAboutAccess = (code: string) => /token|access|repository|denied|unauthorized/.test(code)

function countsOf({ issues, pullRequests }: Run): string {
  const sum = (name: keyof Run['issues']) => issues[name] + pullRequests[name]
  const parts = [`+${sum('created')}`, `~${sum('updated') + sum('reopened')}`, `${sum('closed')} done`]
  return parts.join(' ')
}

function lengthOf({ startedAt, finishedAt }: Run): string {
  if (!startedAt || !finishedAt) return ''
  const seconds = Math.max(1, Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000))
  return seconds < 90 ? `, took ${seconds} s` : `, took ${Math.round(seconds / 60)} min`
}
