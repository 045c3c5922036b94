import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { replayDelivery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { plural } from '../lib/plural.ts'
import { type Delivery, DeliveryItem } from './delivery-item.tsx'
import { DeliveryList, useOutcome } from './delivery-list.tsx'
import { PageHeader } from './page-header.tsx'
import type { Source } from './source-queries.ts'
import { useDeliveries } from './use-deliveries.ts'

/** Of the tasks that a replay reopens. */
const MAX_EXPLAINED = 5

const COLOURS: Partial<Record<Delivery['outcome'], string>> = {
  filtered: 'gray',
  ignored: 'gray',
  pending: 'yellow',
  rejected: 'red',
}
/** A source has filtered deliveries, or ignored ones, if it takes feedback. */
const OUTCOMES = {
  accepted: 'Accepted',
  updated: 'Updated',
  rejected: 'Rejected',
  filtered: 'Filtered',
  ignored: 'Ignored',
  pending: 'Pending',
}

/** The deliveries of a source. */
export function SourceDeliveries({ source, onClose }: { source: Source; onClose(): void }) {
  const [outcome, setOutcome] = useOutcome(OUTCOMES)
  const { query, deliveries } = useDeliveries({ sourceId: source.id, outcome })
  return (
    <>
      <PageHeader
        title={`Deliveries of “${source.name}”`}
        action={
          <Button variant="default" onClick={onClose}>
            Back to sources
          </Button>
        }
      >
        Deliveries with a valid secret or signature. Payloads are kept for 30 days, and filtered deliveries
        for 7 days.
      </PageHeader>
      <DeliveryList
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
        {deliveries.map((delivery) => (
          <SourceDeliveryItem key={delivery.id} source={source} delivery={delivery} />
        ))}
      </DeliveryList>
    </>
  )
}

function SourceDeliveryItem({ source: { id }, delivery }: { source: Source; delivery: Delivery }) {
  const { mutate, isBusy } = useMutation('deliveries')
  const { id: deliveryId, tasks, outcome } = delivery
  const [reopening, setReopening] = useState<{ item: number; explanation: string }[]>()

  /** An old delivery may be about something that is done since, so it asks first. */
  async function askOrReplay() {
    const test = await mutate("Couldn't replay the delivery", () =>
      dataOf(api.POST('/api/sources/{id}/test', { params: { path: { id } }, body: { deliveryId } })),
    )
    if (!test) return
    const reopening = test.tasks.filter(({ reopens }) => reopens)
    if (reopening.length === 0) await replay()
    else setReopening(reopening)
  }

  async function replay() {
    const replayed = await mutate("Couldn't replay the delivery", () => replayDelivery(deliveryId))
    if (replayed) toast.info(`Delivery replayed and ${replayed.outcome}`)
  }

  return (
    <DeliveryItem
      delivery={delivery}
      badge={{ color: COLOURS[outcome] ?? 'green', text: outcome }}
      titleOf={() => (tasks.length === 0 ? 'No tasks' : plural(tasks.length, 'task'))}
      details={[delivery.duplicates > 0 && `sent ${delivery.duplicates + 1} times`]}
      replay={outcome === 'pending' ? undefined : askOrReplay}
      isBusy={isBusy}
    >
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
    </DeliveryItem>
  )
}
