import { Button } from '@mantine/core'
import { replayDelivery } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { type Delivery, DeliveryItem } from './delivery-item.tsx'
import { DeliveryList, useOutcome } from './delivery-list.tsx'
import { feedbackCurl } from './feedback-curl.ts'
import { summaryOf } from './feedback-summary.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'
import { useDeliveries } from './use-deliveries.ts'

const COLOURS: Partial<Record<Delivery['outcome'], string>> = { ignored: 'gray', rejected: 'red' }
const OUTCOMES = { accepted: 'Accepted', rejected: 'Rejected', ignored: 'Ignored' }

export default function FeedbackDeliveriesPage() {
  const [outcome, setOutcome] = useOutcome(OUTCOMES)
  const { query, deliveries } = useDeliveries({ receiver: 'feedback', outcome })
  return (
    <div className={styles.content}>
      <PageHeader title="Feedback deliveries">
        All deliveries to the feedback webhook. Payloads are kept for 30 days. Ignored deliveries are kept for
        7 days, without their payload.
      </PageHeader>
      <DeliveryList
        outcomes={OUTCOMES}
        outcome={outcome}
        onOutcome={setOutcome}
        query={query}
        empty={
          outcome ? (
            <EmptyState
              title={`No ${outcome} deliveries`}
              action={
                <Button variant="default" onClick={() => setOutcome(undefined)}>
                  Show all deliveries
                </Button>
              }
            />
          ) : (
            <EmptyState
              title="No deliveries yet"
              description="Deliveries from your analytics platform appear here."
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
        {deliveries.map((delivery) => (
          <FeedbackDelivery key={delivery.id} delivery={delivery} />
        ))}
      </DeliveryList>
    </div>
  )
}

function FeedbackDelivery({ delivery }: { delivery: Delivery }) {
  const { mutate, isBusy } = useMutation('deliveries')

  async function replay() {
    const replayed = await mutate("Couldn't replay the delivery", () => replayDelivery(delivery.id))
    if (replayed)
      toast.info(
        replayed.outcome === 'accepted'
          ? 'Delivery replayed, task created'
          : 'Delivery replayed and rejected again',
      )
  }

  return (
    <DeliveryItem
      delivery={delivery}
      badge={{ color: COLOURS[delivery.outcome] ?? 'green', text: delivery.outcome }}
      titleOf={(payload) => summaryOf(delivery, payload)}
      details={[
        delivery.duplicates > 0 && `sent ${delivery.duplicates + 1} times`,
        delivery.routing?.explanation,
      ]}
      replay={replay}
      isBusy={isBusy}
    />
  )
}
