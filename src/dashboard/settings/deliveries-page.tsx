import { Button, Select, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { projectsQuery, replayDelivery } from '../api/queries.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { useParameter } from '../navigation/use-parameter.ts'
import { type Delivery, DeliveryItem } from './delivery-item.tsx'
import { DeliveryList, useOutcome } from './delivery-list.tsx'
import { deliveryReason, deliveryTitle } from './delivery-text.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'
import { useDeliveries } from './use-deliveries.ts'

type Outcome = Delivery['outcome']

const COLOURS: Partial<Record<Outcome, string>> = { pending: 'blue', ignored: 'gray', failed: 'red' }
const NAMES: Partial<Record<Outcome, string>> = { accepted: 'applied', updated: 'applied' }
const OUTCOMES = {
  pending: 'Pending',
  accepted: 'Task created',
  updated: 'Applied',
  ignored: 'Ignored',
  failed: 'Failed',
} satisfies Partial<Record<Outcome, string>>

/** What the code host has sent to the webhooks of connected repositories. */
export default function DeliveriesPage() {
  const { close } = useOpened('delivery')
  const [projectId, setProjectId] = useParameter('projectId')
  const query = useQuery(projectsQuery)
  const connected = query.data?.filter(({ codehost }) => codehost !== null) ?? []
  const project = connected.find(({ id }) => id === projectId) ?? connected[0]
  return (
    <div className={styles.content}>
      <PageHeader title="Code host deliveries">
        Changes that the code host has reported to the webhook of a connected repository. Payloads are kept
        for 30 days. Ignored deliveries are kept for 7 days.
      </PageHeader>
      {query.isPending && <Skeleton height={200} />}
      {query.isError && <LoadError what="the projects" query={query} />}
      {query.isSuccess && !project && (
        <EmptyState
          title="No repository connected"
          description="Connect a repository in the settings of a project."
        />
      )}
      {project && connected.length > 1 && (
        <Select
          label="Project"
          data={connected.map(({ id, name, codehost }) => ({
            value: id,
            label: `${name} (${codehost?.repository})`,
          }))}
          value={project.id}
          allowDeselect={false}
          onChange={(id) => {
            if (!id) return
            void close()
            setProjectId(id)
          }}
          style={{ maxWidth: 480 }}
        />
      )}
      {project && <Deliveries key={project.id} projectId={project.id} />}
    </div>
  )
}

function Deliveries({ projectId }: { projectId: string }) {
  const [outcome, setOutcome] = useOutcome(OUTCOMES)
  const { query, deliveries } = useDeliveries({ receiver: 'codehost', projectId, outcome })
  return (
    <DeliveryList
      outcomes={OUTCOMES}
      outcome={outcome}
      onOutcome={setOutcome}
      query={query}
      empty={
        <EmptyState
          title={outcome ? `No ${NAMES[outcome] ?? outcome} deliveries` : 'No deliveries yet'}
          action={
            <Button
              variant="default"
              renderRoot={(props) => <Link to={`/projects/${projectId}`} {...props} />}
            >
              Set up webhook
            </Button>
          }
        />
      }
    >
      {deliveries.map((delivery) => (
        <PushedItem key={delivery.id} delivery={delivery} />
      ))}
    </DeliveryList>
  )
}

function PushedItem({ delivery }: { delivery: Delivery }) {
  const { mutate, isBusy } = useMutation('deliveries')
  const { id, outcome } = delivery

  async function replay() {
    const replayed = await mutate("Couldn't replay the delivery", () => replayDelivery(id))
    if (replayed) toast.info('Delivery is being applied again')
  }

  return (
    <DeliveryItem
      delivery={delivery}
      badge={{ color: COLOURS[outcome] ?? 'green', text: NAMES[outcome] ?? outcome }}
      titleOf={(payload) => deliveryTitle(delivery, payload)}
      details={[deliveryReason(delivery)]}
      replay={replay}
      isBusy={isBusy}
    />
  )
}
