import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { itemsOf } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { DeliveryList, DeliveryRow, pollFirstPage, useOutcome } from './delivery-list.tsx'
import { type OutgoingDelivery, outgoingDeliveriesQuery, type Webhook } from './outgoing-queries.ts'
import { attemptText } from './outgoing-text.ts'
import { PageHeader } from './page-header.tsx'

type Outcome = OutgoingDelivery['outcome']

const COLOURS: Record<Outcome, string> = { pending: 'blue', delivered: 'green', failed: 'red' }
const OUTCOMES: Record<Outcome, string> = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' }

/** What was sent to a webhook, and what waits. */
export function OutgoingDeliveries({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const [outcome, setOutcome] = useOutcome(OUTCOMES)
  const query = useInfiniteQuery({
    ...outgoingDeliveriesQuery(webhook.id, outcome),
    refetchInterval: pollFirstPage,
  })
  const deliveries = itemsOf(query.data)
  return (
    <>
      <PageHeader
        title={`Deliveries of “${webhook.name}”`}
        action={
          <Button variant="default" onClick={onClose}>
            Back to webhooks
          </Button>
        }
      >
        Each matching activity is a delivery. Delivered ones are kept for 7 days. Failed ones are sent again
        while the webhook is on.
      </PageHeader>
      <DeliveryList
        outcomes={OUTCOMES}
        outcome={outcome}
        onOutcome={setOutcome}
        query={query}
        empty={
          <EmptyState
            title={outcome ? `No ${outcome} deliveries` : 'No deliveries yet'}
            description="Change a task, or send a test from the menu of the webhook."
          />
        }
      >
        {deliveries.map((delivery) => (
          <DeliveryItem key={delivery.id} webhook={webhook} delivery={delivery} />
        ))}
      </DeliveryList>
    </>
  )
}

function DeliveryItem({ webhook, delivery }: { webhook: Webhook; delivery: OutgoingDelivery }) {
  const { mutate, isBusy } = useMutation('outgoing-deliveries', 'outgoing-webhooks')
  const { id: deliveryId, webhookId: id, outcome, responseBody } = delivery
  const isTest = delivery.type === 'webhook.test'

  async function retry() {
    const queued = await mutate("Couldn't retry the delivery", () =>
      dataOf(
        api.POST('/api/webhooks/{id}/deliveries/{deliveryId}/retry', {
          params: { path: { id, deliveryId } },
        }),
      ),
    )
    if (queued) toast.info('Delivery is being sent again')
  }

  return (
    <DeliveryRow
      id={deliveryId}
      badge={{ color: COLOURS[outcome], text: outcome }}
      title={delivery.taskTitle === null ? delivery.type : `${delivery.type}: ${isolate(delivery.taskTitle)}`}
      receivedAt={delivery.lastAttemptAt ?? delivery.createdAt}
      details={[attemptText(delivery)]}
      taskId={delivery.taskId}
      replay={isTest || !webhook.isActive ? undefined : retry}
      replayLabel={outcome === 'delivered' ? 'Send again' : 'Retry'}
      isBusy={isBusy}
      payload={responseBody !== null && <CopyBlock text={responseBody} />}
      payloadName="response"
    />
  )
}
