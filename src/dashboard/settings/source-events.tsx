import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { itemsOf } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { plural } from '../lib/plural.ts'
import { EventErrors, EventPayload } from './event-details.tsx'
import { Inbox, InboxItem, pollFirstPage } from './inbox.tsx'
import { PageHeader } from './page-header.tsx'
import { type Source, type SourceEvent, sourceEventsQuery } from './source-queries.ts'

type Outcome = SourceEvent['outcome']

/** Of the tasks that a replay reopens. */
const MAX_EXPLAINED = 5

const COLOURS: Record<Outcome, string> = {
  accepted: 'green',
  filtered: 'gray',
  pending: 'yellow',
  rejected: 'red',
}
const OUTCOMES: Record<Outcome, string> = {
  accepted: 'Accepted',
  rejected: 'Rejected',
  filtered: 'Filtered',
  pending: 'Pending',
}

/** The inbox of a source. */
export function SourceEvents({ source, onClose }: { source: Source; onClose(): void }) {
  const [outcome, setOutcome] = useState<Outcome>()
  const query = useInfiniteQuery({
    ...sourceEventsQuery(source.id, outcome),
    refetchInterval: pollFirstPage,
  })
  const events = itemsOf(query.data)
  return (
    <>
      <PageHeader
        title={`Inbox of “${source.name}”`}
        action={
          <Button variant="default" onClick={onClose}>
            Back to sources
          </Button>
        }
      >
        Deliveries with a valid secret or signature. Payloads are kept for 30 days, and filtered deliveries
        for 7 days.
      </PageHeader>
      <Inbox
        what="deliveries"
        name="the inbox"
        label="Outcome"
        outcomes={OUTCOMES}
        outcome={outcome}
        onOutcome={setOutcome}
        query={query}
        empty={
          <EmptyState
            title={outcome ? `No ${outcome} deliveries` : 'No deliveries yet'}
            description="Deliveries with an invalid secret or signature are not listed."
          />
        }
      >
        {events.map((event) => (
          <SourceEventItem key={event.id} event={event} />
        ))}
      </Inbox>
    </>
  )
}

function SourceEventItem({ event }: { event: SourceEvent }) {
  const { mutate, isBusy } = useMutation('source-events')
  const { id: eventId, sourceId: id, tasks, outcome } = event
  const [reopening, setReopening] = useState<{ item: number; explanation: string }[]>()
  const isReplayable = event.payload !== null && outcome !== 'pending'

  /** An old delivery may be about something that is done since, so it asks first. */
  async function askOrReplay() {
    const test = await mutate("Couldn't replay the delivery", () =>
      dataOf(api.POST('/api/sources/{id}/test', { params: { path: { id } }, body: { eventId } })),
    )
    if (!test) return
    const reopening = test.tasks.filter(({ reopens }) => reopens)
    if (reopening.length === 0) await replay()
    else setReopening(reopening)
  }

  async function replay() {
    const replayed = await mutate("Couldn't replay the delivery", () =>
      dataOf(api.POST('/api/sources/{id}/events/{eventId}/replay', { params: { path: { id, eventId } } })),
    )
    if (replayed) toast.info(`Delivery replayed and ${replayed.outcome}`)
  }

  return (
    <InboxItem
      badge={{ color: COLOURS[outcome], text: outcome }}
      title={tasks.length === 0 ? 'No tasks' : plural(tasks.length, 'task')}
      receivedAt={event.receivedAt}
      details={[event.duplicates > 0 && `sent ${event.duplicates + 1} times`]}
      taskId={tasks[0]?.taskId ?? null}
      replay={isReplayable ? askOrReplay : undefined}
      isBusy={isBusy}
      payload={
        event.payload !== null && <EventPayload payload={event.payload} payloadCut={event.payloadCut} />
      }
    >
      <EventErrors errors={event.errors} />
      {reopening && (
        <ConfirmDialog
          title={`Replay and reopen ${plural(reopening.length, 'task')}?`}
          verb="Replay"
          onConfirm={replay}
          onClose={() => setReopening(undefined)}
        >
          {reopening.slice(0, MAX_EXPLAINED).map(({ item, explanation }) => (
            <p key={item}>{explanation}</p>
          ))}
        </ConfirmDialog>
      )}
    </InboxItem>
  )
}
