import { Button, Select, Skeleton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, dataOf, type Schema } from '../api/client.ts'
import { deliveriesQuery, itemsOf, projectsQuery } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { toast } from '../components/toast.ts'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { useSearchString } from '../navigation/location-provider.tsx'
import { formatSearch, parseSearch } from '../navigation/search-params.ts'
import { deliveryReason, deliveryTitle } from './delivery-text.ts'
import { Inbox, InboxItem, pollFirstPage } from './inbox.tsx'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Delivery = Schema<'CodehostDelivery'>
type Status = Delivery['status']

const COLOURS: Record<Status, string> = { received: 'blue', applied: 'green', dropped: 'gray', failed: 'red' }
const NAMES: Record<Status, string> = {
  received: 'pending',
  applied: 'applied',
  dropped: 'ignored',
  failed: 'failed',
}
const STATUSES: Record<Status, string> = {
  received: 'Pending',
  applied: 'Applied',
  dropped: 'Ignored',
  failed: 'Failed',
}

/** What the code host has sent to the webhooks of connected repositories. */
export default function DeliveriesPage() {
  const [pathname, navigate] = useLocation()
  const search = parseSearch(useSearchString())
  const query = useQuery(projectsQuery)
  const connected = query.data?.filter(({ codehost }) => codehost !== null) ?? []
  const project = connected.find(({ id }) => id === search.projectId) ?? connected[0]
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
          onChange={(projectId) =>
            projectId && navigate(pathname + formatSearch({ projectId }), { replace: true })
          }
          style={{ maxWidth: 480 }}
        />
      )}
      {project && <Deliveries key={project.id} projectId={project.id} />}
    </div>
  )
}

function Deliveries({ projectId }: { projectId: string }) {
  const [status, setStatus] = useState<Status>()
  const query = useInfiniteQuery({
    ...deliveriesQuery(projectId, status),
    refetchInterval: pollFirstPage,
  })
  const deliveries = itemsOf(query.data)
  return (
    <Inbox
      what="deliveries"
      name="the deliveries"
      label="Status"
      outcomes={STATUSES}
      outcome={status}
      onOutcome={setStatus}
      query={query}
      empty={
        <EmptyState
          title={status ? `No ${NAMES[status]} deliveries` : 'No deliveries yet'}
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
        <DeliveryItem key={delivery.id} projectId={projectId} delivery={delivery} />
      ))}
    </Inbox>
  )
}

function DeliveryItem({ projectId, delivery }: { projectId: string; delivery: Delivery }) {
  const { mutate, isBusy } = useMutation('deliveries')
  const { id, status, taskId, isReplayable } = delivery

  async function replay() {
    const replayed = await mutate("Couldn't replay the delivery", () =>
      dataOf(
        api.POST('/api/codehost/{projectId}/deliveries/{id}/replay', { params: { path: { projectId, id } } }),
      ),
    )
    if (replayed) toast.info('Delivery is being applied again')
  }

  return (
    <InboxItem
      badge={{ color: COLOURS[status], text: NAMES[status] }}
      title={deliveryTitle(delivery)}
      receivedAt={delivery.receivedAt}
      details={[deliveryReason(delivery)]}
      taskId={taskId}
      replay={isReplayable ? replay : undefined}
      isBusy={isBusy}
      payload={isReplayable && <Payload projectId={projectId} id={id} />}
    />
  )
}

function Payload({ projectId, id }: { projectId: string; id: string }) {
  const query = useQuery({
    queryKey: ['delivery', id],
    queryFn: () =>
      dataOf(api.GET('/api/codehost/{projectId}/deliveries/{id}', { params: { path: { projectId, id } } })),
  })
  return (
    <>
      {query.isPending && <Skeleton height={120} />}
      {query.isError && <LoadError what="the payload" query={query} />}
      {query.data && query.data.payload === null && (
        <p className="quiet small">The payload is larger than 256 KiB and not shown.</p>
      )}
      {query.data && query.data.payload !== null && (
        <CopyBlock text={JSON.stringify(query.data.payload, null, 2)} />
      )}
    </>
  )
}
