import { Button, SegmentedControl, Skeleton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { eventsQuery, itemsOf } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { EventErrors, EventPayload } from './event-details.tsx'
import { summaryOf } from './event-summary.ts'
import { feedbackCurl } from './feedback-curl.ts'
import { InboxItem, InboxRows, pollFirstPage } from './inbox.tsx'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Event = Schema<'FeedbackEvent'>
type Outcome = Event['outcome']

const COLOURS: Record<Outcome, string> = { accepted: 'green', ignored: 'gray', rejected: 'red' }

export default function EventsPage() {
  const [outcome, setOutcome] = useState<Outcome | 'all'>('all')
  const query = useInfiniteQuery({
    ...eventsQuery(outcome === 'all' ? undefined : outcome),
    refetchInterval: pollFirstPage,
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
      <InboxRows what="events" query={query}>
        {events.map((event) => (
          <EventItem key={event.id} event={event} />
        ))}
      </InboxRows>
    </div>
  )
}

function EventItem({ event }: { event: Event }) {
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
    <InboxItem
      badge={{ color: COLOURS[event.outcome], text: event.outcome }}
      title={summaryOf(event)}
      receivedAt={event.receivedAt}
      details={[event.duplicates > 0 && `sent ${event.duplicates + 1} times`, event.routing?.explanation]}
      taskId={event.taskId}
      replay={event.payload === null ? undefined : replay}
      isBusy={isBusy}
      payload={<EventPayload payload={event.payload} payloadCut={event.payloadCut} />}
    >
      <EventErrors errors={event.errors} />
    </InboxItem>
  )
}
