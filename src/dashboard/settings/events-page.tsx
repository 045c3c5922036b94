import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { eventsQuery, itemsOf } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { EventErrors, EventPayload } from './event-details.tsx'
import { summaryOf } from './event-summary.ts'
import { feedbackCurl } from './feedback-curl.ts'
import { Inbox, InboxItem, pollFirstPage } from './inbox.tsx'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Event = Schema<'FeedbackEvent'>
type Outcome = Event['outcome']

const COLOURS: Record<Outcome, string> = { accepted: 'green', ignored: 'gray', rejected: 'red' }
const OUTCOMES: Record<Outcome, string> = { accepted: 'Accepted', rejected: 'Rejected', ignored: 'Ignored' }

export default function EventsPage() {
  const [outcome, setOutcome] = useState<Outcome>()
  const query = useInfiniteQuery({
    ...eventsQuery(outcome),
    refetchInterval: pollFirstPage,
  })
  const events = itemsOf(query.data)
  return (
    <div className={styles.content}>
      <PageHeader title="Event inbox">
        All events sent to the feedback webhook. Payloads are kept for 30 days. Ignored events are kept for 7
        days, without their payload.
      </PageHeader>
      <Inbox
        what="events"
        name="the inbox"
        label="Outcome"
        outcomes={OUTCOMES}
        outcome={outcome}
        onOutcome={setOutcome}
        query={query}
        empty={
          outcome ? (
            <EmptyState
              title={`No ${outcome} events`}
              action={
                <Button variant="default" onClick={() => setOutcome(undefined)}>
                  Show all events
                </Button>
              }
            />
          ) : (
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
          )
        }
      >
        {events.map((event) => (
          <EventItem key={event.id} event={event} />
        ))}
      </Inbox>
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
      payload={
        event.payload !== null && <EventPayload payload={event.payload} payloadCut={event.payloadCut} />
      }
    >
      <EventErrors errors={event.errors} />
    </InboxItem>
  )
}
