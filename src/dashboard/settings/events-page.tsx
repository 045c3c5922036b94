import { Badge, Button, SegmentedControl, Skeleton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { eventsQuery, itemsOf } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { summaryOf } from './event-summary.ts'
import { feedbackCurl } from './feedback-curl.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Event = Schema<'FeedbackEvent'>
type Outcome = Event['outcome']

const POLL_MS = 5_000
const COLOURS: Record<Outcome, string> = { accepted: 'green', ignored: 'gray', rejected: 'red' }

export default function EventsPage() {
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
        All events sent to the feedback webhook. Payloads are kept for 30 days. Ignored events are kept for 7
        days, without their payload.
      </PageHeader>
      <SegmentedControl
        aria-label="Outcome"
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
      {query.isError && <LoadError what="the inbox" query={query} />}
      {query.isSuccess && events.length === 0 && outcome !== 'all' && (
        <EmptyState
          title={`No ${outcome} events`}
          action={
            <Button variant="default" onClick={() => setOutcome('all')}>
              Show all events
            </Button>
          }
        />
      )}
      {query.isSuccess && events.length === 0 && outcome === 'all' && (
        <EmptyState
          title="No events yet"
          description="Events from your analytics platform appear here."
          action={
            <Button variant="default" renderRoot={(props) => <Link to="/settings/webhook" {...props} />}>
              Set up webhook
            </Button>
          }
        >
          <CopyBlock caption="Or send a test event:" text={feedbackCurl()} />
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
          Show older events
        </Button>
      )}
    </div>
  )
}

function EventItem({ event }: { event: Event }) {
  const [isOpen, setOpen] = useState(false)
  const { mutate, isBusy } = useMutation('events')

  async function replay() {
    const replayed = await mutate("Couldn't replay the event", () =>
      dataOf(api.POST('/api/analytics/events/{id}/replay', { params: { path: { id: event.id } } })),
    )
    if (replayed)
      toast.info(
        replayed.outcome === 'accepted'
          ? 'Event replayed, task created'
          : 'Event replayed and rejected again',
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
        <Link to={`/tasks/${event.taskId}`} className="target">
          View task
        </Link>
      )}
      {event.payload !== null && (
        <>
          <Button variant="default" loading={isBusy} onClick={() => void replay()}>
            Replay
          </Button>
          <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide payload' : 'Show payload'}
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
            caption={event.payloadCut ? 'First 256 KiB of the payload:' : undefined}
            text={typeof event.payload === 'string' ? event.payload : JSON.stringify(event.payload, null, 2)}
          />
        </div>
      )}
    </li>
  )
}
