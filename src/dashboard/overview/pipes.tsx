import { Skeleton } from '@mantine/core'
import { AlertFillIcon, CheckCircleIcon, CircleSlashIcon, ClockIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { statusQuery } from '../api/status-query.ts'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { sumOf } from '../lib/sum.ts'
import { BarStrip } from '../pictures/bar-strip.tsx'
import { reasonOf } from './mending.ts'
import { MendingLink } from './mending-link.tsx'
import styles from './pipes.module.css'

type Pipe = Schema<'Pipe'>

const KINDS: Record<Pipe['kind'], string> = {
  feedback: 'Feedback webhook',
  source: 'Source',
  sync: 'Code host, sync',
  push: 'Code host, webhook',
  write_back: 'Code host, write-back',
  webhook: 'Outgoing webhook',
  identity_provider: 'Sign-in',
}
const STATES = {
  failing: { Icon: AlertFillIcon, word: 'Failing' },
  silent: { Icon: ClockIcon, word: 'Silent' },
  ok: { Icon: CheckCircleIcon, word: 'OK' },
  off: { Icon: CircleSlashIcon, word: 'Off' },
}
const ORDER = Object.keys(STATES)

interface PipesProps {
  projectId: string | undefined
}

/** What fails, with the reason and where to mend it; nothing when nothing does. */
export function FailingPipes(props: PipesProps) {
  const { pipes } = usePipes(props)
  const failing = pipes?.filter(({ state }) => state === 'failing') ?? []
  if (failing.length === 0) return null
  return (
    <section className={styles.section} aria-labelledby="failing">
      <h2 id="failing">Failing</h2>
      <PipeList pipes={failing} />
    </section>
  )
}

/** Every way in and out that does not fail, as a line. */
export function Pipes(props: PipesProps) {
  const { pipes, query } = usePipes(props)
  const used = pipes?.filter(({ state }) => state === 'ok' || state === 'silent') ?? []
  const off = pipes?.filter(({ state }) => state === 'off') ?? []
  const isUnused = pipes?.length === off.length
  return (
    <section className={styles.section} aria-labelledby="pipes">
      <h2 id="pipes">Ways in and out</h2>
      {query.isPending && <Skeleton height={160} />}
      {query.isError && <LoadError what="the status" query={query} />}
      {pipes && isUnused && (
        <p className="quiet">
          Nothing comes in or goes out yet. Connect a repository or add a source to begin.
        </p>
      )}
      {used.length > 0 && <PipeList pipes={used} />}
      {off.length > 0 && (
        <details>
          <summary className="quiet small">{off.length.toLocaleString()} off or never used</summary>
          <PipeList pipes={off} />
        </details>
      )}
    </section>
  )
}

/** Those of a project, and of the whole service, silent ones first. */
function usePipes({ projectId }: PipesProps) {
  const query = useQuery(statusQuery)
  const pipes = query.data
    ?.filter((pipe) => !projectId || pipe.projectId === projectId || pipe.projectId === null)
    .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  return { query, pipes }
}

const PipeList = ({ pipes }: { pipes: Pipe[] }) => (
  <ul className={styles.pipes}>
    {pipes.map((pipe) => (
      <PipeLine key={`${pipe.kind} ${pipe.id}`} pipe={pipe} />
    ))}
  </ul>
)

function PipeLine({ pipe }: { pipe: Pipe }) {
  const { kind, name, state, lastSuccessAt, lastError, hours } = pipe
  const { Icon, word } = STATES[state]
  const succeeded = sumOf(hours.map((hour) => hour.succeeded))
  const failed = sumOf(hours.map((hour) => hour.failed))
  return (
    <li className={styles.pipe} data-state={state}>
      <span className={styles.state}>
        <Icon size={16} aria-hidden />
        {word}
      </span>
      <span className={styles.name}>
        <bdi>{name}</bdi> <span className="quiet small">{KINDS[kind]}</span>
      </span>
      <BarStrip
        bars={hours}
        label={`In 24 hours: ${succeeded.toLocaleString()} succeeded, ${failed.toLocaleString()} failed`}
      />
      <span className={`quiet small ${styles.last}`}>
        {lastSuccessAt ? <RelativeTime dateTime={lastSuccessAt} /> : 'No success yet'}
      </span>
      {state === 'failing' && lastError && (
        <span className={styles.reason}>
          <span className="breakable">
            {reasonOf(pipe)}{' '}
            <span className="quiet small">
              <RelativeTime dateTime={lastError.at} />
            </span>
          </span>
          <MendingLink pipe={pipe} />
        </span>
      )}
    </li>
  )
}
