import { Skeleton } from '@mantine/core'
import { AlertFillIcon, CheckCircleIcon, CircleSlashIcon, ClockIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { statusQuery } from '../api/status-query.ts'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { sumOf } from '../lib/sum.ts'
import { BarStrip } from '../pictures/bar-strip.tsx'
import { hoursText } from './hours-text.ts'
import { reasonOf } from './mending.ts'
import { MendingLink } from './mending-link.tsx'
import { OtherPipes } from './other-pipes.tsx'
import { KINDS } from './pipe-kinds.ts'
import styles from './pipes.module.css'

type Pipe = Schema<'Pipe'>

/** Those of a kind in a state: the first of them, and how many there are. */
interface PipeGroup extends Pick<Pipe, 'kind' | 'state'> {
  count: number
  pipes: Pipe[]
}

/** Of a kind in a state. */
const MAX_LINES = 10

const STATES = {
  failing: { Icon: AlertFillIcon, word: 'Failing' },
  silent: { Icon: ClockIcon, word: 'Silent' },
  ok: { Icon: CheckCircleIcon, word: 'OK' },
  off: { Icon: CircleSlashIcon, word: 'Off' },
}

interface PipesProps {
  projectId?: string | undefined
}

/** Until the first response: after a failure, nothing waits for the next one. */
export function useIsStatusAwaited(props: PipesProps): boolean {
  const { query } = usePipes(props)
  return query.isLoading && query.failureCount === 0
}

/** What fails, with the reason and where to mend it; nothing when nothing does. */
export function FailingPipes(props: PipesProps) {
  const { groupsOf } = usePipes(props)
  const failing = groupsOf('failing')
  if (failing.length === 0) return null
  return (
    <section className={styles.section} aria-labelledby="failing">
      <h2 id="failing">Failing</h2>
      <PipeList groups={failing} />
    </section>
  )
}

/** Every way in and out that does not fail, as a line; many of one kind are one line. */
export function Pipes(props: PipesProps) {
  const { groupsOf, query } = usePipes(props)
  const used = groupsOf('silent', 'ok')
  const off = groupsOf('off')
  const isUnused = query.data?.counts.length === off.length
  return (
    <section className={styles.section} aria-labelledby="pipes">
      <h2 id="pipes">Ways in and out</h2>
      {query.isPending && <Skeleton height={160} />}
      {query.isError && <LoadError what="the status" query={query} />}
      {isUnused && (
        <p className="quiet">
          Nothing comes in or goes out yet. Connect a repository or add a source to begin.
        </p>
      )}
      {used.length > 0 && <PipeList groups={used} />}
      {off.length > 0 && (
        <details>
          <summary className="quiet small">
            {sumOf(off.map(({ count }) => count)).toLocaleString()} off or never used
          </summary>
          <PipeList groups={off} />
        </details>
      )}
    </section>
  )
}

/** Those of a project, and of the whole service, by their states and kinds. */
function usePipes({ projectId }: PipesProps) {
  const query = useQuery({
    ...statusQuery({ perState: MAX_LINES, ...(projectId && { projectId }) }),
    placeholderData: keepPreviousData,
  })
  const { data = [], counts = [] } = query.data ?? {}
  const groupsOf = (...states: Pipe['state'][]): PipeGroup[] =>
    states.flatMap((state) =>
      counts
        .filter((group) => group.state === state)
        .map((group) => ({
          ...group,
          pipes: data.filter((pipe) => pipe.state === state && pipe.kind === group.kind),
        })),
    )
  return { query, groupsOf }
}

const PipeList = ({ groups }: { groups: PipeGroup[] }) => (
  <ul className={styles.pipes}>
    {groups.map((group) => (
      <PipeLines key={`${group.kind} ${group.state}`} group={group} />
    ))}
  </ul>
)

/** Each as a line, and how many more there are. Of what needs no attention, many are counted alone. */
function PipeLines({ group }: { group: PipeGroup }) {
  const { state, count, pipes } = group
  const isCounted = count > pipes.length && (state === 'ok' || state === 'off')
  const shown = isCounted ? [] : pipes
  return (
    <>
      {shown.map((pipe) => (
        <PipeLine key={pipe.id} pipe={pipe} />
      ))}
      {count > shown.length && <OtherPipes {...group} count={count - shown.length} isRest={!isCounted} />}
    </>
  )
}

function PipeLine({ pipe }: { pipe: Pipe }) {
  const { kind, name, state, lastSuccessAt, lastError, hours } = pipe
  const { Icon, word } = STATES[state]
  return (
    <li className={styles.pipe} data-state={state}>
      <span className={styles.state}>
        <Icon size={16} aria-hidden />
        {word}
      </span>
      <span className={styles.name}>
        <bdi>{name}</bdi> <span className="quiet small">{KINDS[kind].name}</span>
      </span>
      <BarStrip bars={hours} label={hoursText(hours)} />
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
