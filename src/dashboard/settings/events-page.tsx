import { Badge, Button, SegmentedControl, Skeleton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { eventsQuery, itemsOf } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { summaryOf } from './event-summary.ts'
import { feedbackCurl } from './feedback-curl.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Event = Schema<'FeedbackEvent'>
type Outcome = Event['outcome']

const POLL_MS = 5_000
const COLOURS: Record<Outcome, string> = { accepted: 'green', ignored: 'gray', rejected: 'red' }

export function EventsPage() {
  const [outcome, setOutcome] = useState<Outcome | 'all'>('all')
  const query = useInfiniteQuery({
    ...eventsQuery(outcome === 'all' ? undefined : outcome),
    // Rejected events are not in the activity log, so the stream does not report them. With more pages loaded a
    // refetch would load all of them again.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? POLL_MS : false),
  })
  const events = itemsOf(query.data)
  return (
    <div className={styles.content}>
      <PageHeader title="Event inbox">
        Everything the feedback receiver was sent. Payloads are kept for 30 days; what was ignored is kept for
        7, without its payload.
      </PageHeader>
      <SegmentedControl
        aria-label="Which events"
        value={outcome}
        onChange={(value) => setOutcome(value as Outcome | 'all')}
        data={[
          { value: 'all', label: 'All' },
          { value: 'accepted', label: 'Accepted' },
          { value: 'rejected', label: 'Rejected' },
          { value: 'ignored', label: 'Ignored' },
        ]}
      />
      {query.isPending && <Skeleton height={200} />}
      {query.isError && <LoadError what="The inbox" query={query} />}
      {query.isSuccess && events.length === 0 && outcome !== 'all' && (
        <EmptyState
          title={`Nothing was ${outcome}`}
          action={
            <Button variant="default" onClick={() => setOutcome('all')}>
              Show all
            </Button>
          }
        />
      )}
      {query.isSuccess && events.length === 0 && outcome === 'all' && (
        <EmptyState
          title="Nothing has come in"
          description="Point the analytics platform at the receiver, and each event shows up here."
          action={
            <Button variant="default" renderRoot={(props) => <Link to="/settings/webhook" {...props} />}>
              Set up the webhook
            </Button>
          }
        >
          <CopyBlock caption="Or send one from a terminal:" text={feedbackCurl()} />
        </EmptyState>
      )}
      {events.length > 0 && (
        <ul className={styles.rows}>
          {events.map((event) => (
            <EventItem key={event.id} event={event} />
          ))}
        </ul>
      )}
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </div>
  )
}

function EventItem({ event }: { event: Event }) {
  const [isOpen, setOpen] = useState(false)
  const { mutate, isBusy } = useMutation('events')

  async function replay() {
    const replayed = await mutate('It could not be replayed', () =>
      dataOf(api.POST('/api/analytics/events/{id}/replay', { params: { path: { id: event.id } } })),
    )
    if (replayed)
      toast.info(
        replayed.outcome === 'accepted' ? 'Replayed; it has its task.' : 'Replayed, and rejected again.',
      )
  }

  return (
    <li className={styles.item} style={{ flexWrap: 'wrap' }}>
      <Badge color={COLOURS[event.outcome]} variant="dot" tt="none" style={{ flex: 'none' }}>
        {event.outcome}
      </Badge>
      <div className={styles.main}>
        <div>{summaryOf(event)}</div>
        <div className="quiet small">
          <RelativeTime dateTime={event.receivedAt} />
          {event.duplicates > 0 && ` · sent ${event.duplicates + 1} times`}
          {event.routing && ` · ${event.routing.explanation}`}
        </div>
      </div>
      {event.taskId && (
        <Link to="/tasks/$taskId" params={{ taskId: event.taskId }} className="target">
          Open the task
        </Link>
      )}
      {event.payload !== null && (
        <>
          <Button variant="default" loading={isBusy} onClick={() => void replay()}>
            Replay
          </Button>
          <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide payload' : 'Payload'}
          </Button>
        </>
      )}
      {event.errors && (
        <ul className="small" style={{ flexBasis: '100%', margin: 0, color: 'var(--red)' }}>
          {event.errors.map(({ path, message }) => (
            <li key={path + message}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {isOpen && (
        <div style={{ flexBasis: '100%' }} className={styles.payload}>
          <CopyBlock
            caption={event.payloadCut ? 'The first 256 KiB of it.' : undefined}
            text={typeof event.payload === 'string' ? event.payload : JSON.stringify(event.payload, null, 2)}
          />
        </div>
      )}
    </li>
  )
}
