import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deliveriesQuery, itemsOf, replayDelivery } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { type Delivery, DeliveryItem } from './delivery-item.tsx'
import { DeliveryList, pollFirstPage } from './delivery-list.tsx'
import { summaryOf } from './event-summary.ts'
import { feedbackCurl } from './feedback-curl.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Outcome = keyof typeof OUTCOMES

const COLOURS: Partial<Record<Delivery['outcome'], string>> = { ignored: 'gray', rejected: 'red' }
const OUTCOMES = { accepted: 'Accepted', rejected: 'Rejected', ignored: 'Ignored' }

export default function EventsPage() {
  const [outcome, setOutcome] = useState<Outcome>()
  const query = useInfiniteQuery({
    ...deliveriesQuery({ receiver: 'feedback', outcome }),
    refetchInterval: pollFirstPage,
  })
  const events = itemsOf(query.data)
  return (
    <div className={styles.content}>
      <PageHeader title="Feedback deliveries">
        All events sent to the feedback webhook. Payloads are kept for 30 days. Ignored events are kept for 7
        days, without their payload.
      </PageHeader>
      <DeliveryList
        what="events"
        name="the deliveries"
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
      </DeliveryList>
    </div>
  )
}

function EventItem({ event }: { event: Delivery }) {
  const { mutate, isBusy } = useMutation('deliveries')

  async function replay() {
    const replayed = await mutate("Couldn't replay the event", () => replayDelivery(event.id))
    if (replayed)
      toast.info(
        replayed.outcome === 'accepted'
          ? 'Event replayed, task created'
          : 'Event replayed and rejected again',
      )
  }

  return (
    <DeliveryItem
      delivery={event}
      badge={{ color: COLOURS[event.outcome] ?? 'green', text: event.outcome }}
      titleOf={(payload) => summaryOf(event, payload)}
      details={[event.duplicates > 0 && `sent ${event.duplicates + 1} times`, event.routing?.explanation]}
      replay={replay}
      isBusy={isBusy}
    />
  )
}
