import { Button, SegmentedControl } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { itemsOf } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { Link } from '../navigation/link.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { useParameter } from '../navigation/use-parameter.ts'
import { DeliveryRow } from './delivery-row.tsx'
import { OffNotice } from './off-notice.tsx'
import { type OutgoingDelivery, outgoingDeliveriesQuery, type Webhook } from './outgoing-queries.ts'
import { attemptText, disabledText } from './outgoing-text.ts'
import { PageHeader } from './page-header.tsx'
import { Rows } from './rows.tsx'
import styles from './settings.module.css'
import { useWebhookSwitch } from './use-webhook-switch.ts'

type Outcome = OutgoingDelivery['outcome']

const COLOURS: Record<Outcome, string> = { pending: 'blue', delivered: 'green', failed: 'red' }
const OUTCOMES: Record<Outcome, string> = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' }
const ALL = 'all'

/** What is in the address of the deliveries, beside the webhook. */
export const WITHIN_DELIVERIES = ['outcome', 'delivery']

/** An attempt changes no task, so the stream does not report it. */
const POLL_MS = 5_000

/** What was sent to a webhook, and what waits. */
export function OutgoingDeliveries({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const [outcome, setOutcome] = useOutcome()
  const { toggle, isBusy } = useWebhookSwitch(webhook)
  const options = outgoingDeliveriesQuery(webhook.id, outcome)
  const query = useInfiniteQuery({
    ...options,
    // With more pages loaded, a refetch would load all of them again.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? POLL_MS : false),
  })
  return (
    <>
      <PageHeader
        title={`Deliveries of “${isolate(webhook.name)}”`}
        action={
          <Button variant="default" onClick={onClose}>
            Back to webhooks
          </Button>
        }
      >
        Each matching activity is a delivery. Delivered ones are kept for 7 days. Failed ones are sent again
        while the webhook is on.
      </PageHeader>
      {!webhook.isActive && (
        <OffNotice
          why={disabledText(webhook) ?? 'This webhook is off. Nothing is sent until you turn it on.'}
          isBusy={isBusy}
          onTurnOn={() => void toggle()}
        />
      )}
      <SegmentedControl
        className={styles.outcomes}
        aria-label="Outcome"
        value={outcome ?? ALL}
        onChange={(value) => setOutcome(value === ALL ? undefined : value)}
        data={[
          { value: ALL, label: 'All' },
          ...Object.entries(OUTCOMES).map(([value, label]) => ({ value, label })),
        ]}
      />
      <Rows
        label="deliveries"
        query={query}
        queryKey={options.queryKey}
        more="Show older deliveries"
        empty={
          <EmptyState
            title={outcome ? `No ${outcome} deliveries` : 'No deliveries yet'}
            description="Change a task, or send a test from the menu of the webhook."
          />
        }
      >
        {itemsOf(query.data).map((delivery) => (
          <DeliveryItem key={delivery.id} webhook={webhook} delivery={delivery} />
        ))}
      </Rows>
    </>
  )
}

/** The only outcome that is shown. Another one closes the open delivery. */
function useOutcome() {
  const { close } = useOpened('delivery')
  const [value, setValue] = useParameter('outcome')
  // Cast: it is one of the keys.
  const outcome = value !== undefined && Object.hasOwn(OUTCOMES, value) ? (value as Outcome) : undefined
  const setOutcome = (next: string | undefined) => {
    void close()
    setValue(next)
  }
  return [outcome, setOutcome] as const
}

function DeliveryItem({ webhook, delivery }: { webhook: Webhook; delivery: OutgoingDelivery }) {
  const { mutate, isBusy } = useMutation('outgoing-deliveries', 'outgoing-webhooks')
  const { id: deliveryId, webhookId: id, outcome, type, taskId, taskTitle, responseBody } = delivery
  const canSend = type !== 'webhook.test' && webhook.isActive

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
      outcome={{ colour: COLOURS[outcome], text: OUTCOMES[outcome] }}
      title={taskTitle === null ? type : `${type}: ${isolate(taskTitle)}`}
      time={delivery.lastAttemptAt ?? delivery.createdAt}
      details={[attemptText(delivery)]}
      actions={
        canSend && (
          <Button variant="default" loading={isBusy} onClick={() => void retry()}>
            {outcome === 'delivered' ? 'Send again' : 'Retry'}
          </Button>
        )
      }
    >
      {taskId && (
        <div>
          <Link to={`/tasks/${taskId}`} className="target">
            View task
          </Link>
        </div>
      )}
      {responseBody === null ? (
        <p className="quiet small">Only responses to failed attempts are stored.</p>
      ) : (
        <CopyBlock caption="Response:" text={responseBody} />
      )}
    </DeliveryRow>
  )
}
