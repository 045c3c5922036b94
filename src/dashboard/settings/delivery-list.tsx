import { Badge, Button, SegmentedControl, Skeleton } from '@mantine/core'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { loadMore } from '../api/invalidate.ts'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { Link } from '../navigation/link.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { useParameter } from '../navigation/use-parameter.ts'
import styles from './settings.module.css'

/** Lists of deliveries poll: what arrives does not always change a task, so the stream does not report it. */
const POLL_MS = 5_000

/** With more pages loaded a refetch would load all of them again. */
export const pollFirstPage = ({ state }: { state: { data?: { pages: unknown[] } | undefined } }) =>
  state.data?.pages.length === 1 ? POLL_MS : false

const ALL = 'all'

/** What is in the address of an inbox, beside its name. */
export const WITHIN_INBOX = ['outcome', 'delivery']

/** The only outcome that is shown. Another one closes the open delivery. */
export function useOutcome<Outcome extends string>(outcomes: Record<Outcome, string>) {
  const { close } = useOpened('delivery')
  const [value, setValue] = useParameter('outcome')
  // Cast: it is one of the keys.
  const outcome = value !== undefined && Object.hasOwn(outcomes, value) ? (value as Outcome) : undefined
  const setOutcome = (next: Outcome | undefined) => {
    void close()
    setValue(next)
  }
  return [outcome, setOutcome] as const
}

interface DeliveryListProps<Outcome extends string> {
  outcomes: Record<Outcome, string>
  /** The only outcome that is shown. */
  outcome: Outcome | undefined
  onOutcome(outcome: NoInfer<Outcome> | undefined): void
  query: UseInfiniteQueryResult
  empty: ReactNode
  /** One item for each delivery. */
  children: ReactNode[]
}

/** What was received, newest first, with a filter by outcome. */
export function DeliveryList<Outcome extends string>(props: DeliveryListProps<Outcome>) {
  const { outcomes, query, children } = props
  return (
    <>
      <SegmentedControl
        className={styles.outcomes}
        aria-label="Outcome"
        value={props.outcome ?? ALL}
        onChange={(value) => props.onOutcome(value === ALL ? undefined : (value as Outcome))}
        data={[
          { value: ALL, label: 'All' },
          ...Object.entries<string>(outcomes).map(([value, label]) => ({ value, label })),
        ]}
      />
      {query.isPending && <Skeleton height={200} />}
      {query.isError && <LoadError what="the deliveries" query={query} />}
      {query.isSuccess && children.length === 0 && props.empty}
      {children.length > 0 && <ul className={styles.rows}>{children}</ul>}
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void loadMore(query)}>
          Show older deliveries
        </Button>
      )}
    </>
  )
}

interface DeliveryRowProps {
  id: string
  badge: { color: string; text: string }
  title: string
  receivedAt: string
  /** Shown after the time. */
  details: (string | false | null | undefined)[]
  taskId: string | null
  /** Undefined if nothing is stored to replay. */
  replay?: (() => Promise<void>) | undefined
  /** The label of the button to replay it. */
  replayLabel?: string
  isBusy: boolean
  /** Shown on request; nothing if none is stored. */
  payload: ReactNode
  /** What the payload is called. */
  payloadName?: string
  /** Shown above the payload. */
  children?: ReactNode
}

/** Something that was received or sent: its outcome, and buttons for what is stored of it. */
export function DeliveryRow({
  id,
  badge,
  title,
  receivedAt,
  details,
  taskId,
  replay,
  ...item
}: DeliveryRowProps) {
  const { opened, open, close } = useOpened('delivery')
  const isOpen = opened === id
  const { replayLabel = 'Replay', payloadName = 'payload' } = item
  return (
    <li className={styles.item} style={{ flexWrap: 'wrap' }}>
      <Badge className={styles.outcome} color={badge.color} variant="dot" tt="none">
        {badge.text}
      </Badge>
      <div className={styles.main}>
        <div>{title}</div>
        <div className="quiet small">
          <RelativeTime dateTime={receivedAt} />
          {details.filter(Boolean).map((detail) => ` · ${detail}`)}
        </div>
      </div>
      {taskId && (
        <Link to={`/tasks/${taskId}`} className="target">
          View task
        </Link>
      )}
      {replay && (
        <Button variant="default" loading={item.isBusy} onClick={() => void replay()}>
          {replayLabel}
        </Button>
      )}
      {item.payload && (
        <Button variant="subtle" aria-expanded={isOpen} onClick={() => (isOpen ? void close() : open(id))}>
          {isOpen ? 'Hide' : 'Show'} {payloadName}
        </Button>
      )}
      {item.children}
      {isOpen && (
        <div style={{ flexBasis: '100%' }} className={styles.payload}>
          {item.payload}
        </div>
      )}
    </li>
  )
}
