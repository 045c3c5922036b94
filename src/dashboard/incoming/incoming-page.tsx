import { Button, Skeleton } from '@mantine/core'
import { type RefObject, useRef } from 'react'
import type { DeliveryFilter } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { LoadError } from '../components/load-error.tsx'
import { Link } from '../navigation/link.tsx'
import { OverviewFrame } from '../overview/overview-frame.tsx'
import { useMe } from '../session/session.ts'
import { feedbackCurl } from '../settings/feedback-curl.ts'
import { DeliveryRow } from './delivery-row.tsx'
import styles from './incoming.module.css'
import { IncomingFilters } from './incoming-filters.tsx'
import { useIncoming } from './use-incoming.ts'
import { useIncomingFilter } from './use-incoming-filter.ts'

/** What arrived at all doors, newest first: why something made no task is read here, whichever door it used. */
export default function IncomingPage() {
  const scroller = useRef<HTMLDivElement>(null)
  const { filter } = useIncomingFilter()
  return (
    <OverviewFrame title="Incoming" ref={scroller} filters={null}>
      <IncomingFilters />
      <Deliveries filter={filter} scroller={scroller} />
    </OverviewFrame>
  )
}

interface DeliveriesProps {
  filter: DeliveryFilter
  scroller: RefObject<HTMLElement | null>
}

function Deliveries({ filter, scroller }: DeliveriesProps) {
  const { query, deliveries, waiting, showWaiting } = useIncoming(filter, scroller)
  if (query.isPending) return <Skeleton height={320} />
  if (query.isError && deliveries.length === 0) return <LoadError what="the deliveries" query={query} />
  if (deliveries.length === 0) return <NoDeliveries filter={filter} />
  return (
    <div>
      {waiting > 0 && (
        <button type="button" className={styles.waiting} onClick={showWaiting}>
          {waiting} new
        </button>
      )}
      <ul className={styles.rows}>
        {deliveries.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {query.isError && <LoadError what="older deliveries" query={query} />}
      {query.hasNextPage ? (
        <Button
          variant="default"
          mt={16}
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show older deliveries
        </Button>
      ) : (
        <p className="quiet small">
          Payloads are kept for 30 days, and ignored and filtered deliveries for 7 days.
        </p>
      )}
    </div>
  )
}

function NoDeliveries({ filter }: Pick<DeliveriesProps, 'filter'>) {
  const { can, isServiceWide } = useMe()
  const { change } = useIncomingFilter()
  const isFiltered = Object.keys(filter).length > 0
  if (isFiltered) {
    return (
      <EmptyState
        title="No deliveries match"
        description={
          filter.senderId === undefined
            ? 'Requests with an invalid secret or signature are not listed.'
            : 'Enter the whole ID that the sender gave. Requests with an invalid secret or signature are not listed.'
        }
        action={
          <Button variant="default" onClick={() => change(NO_FILTER)}>
            Show all deliveries
          </Button>
        }
      />
    )
  }
  return (
    <EmptyState
      title="Nothing has arrived yet"
      description="What is sent to the feedback webhook and to sources, and what code hosts report, appears here with what became of it."
      action={
        can('admin') && (
          <Button
            renderRoot={(props) => <Link to="/settings/sources" search={{ source: 'new' }} {...props} />}
          >
            Add a source
          </Button>
        )
      }
    >
      {can('admin') && isServiceWide && <CopyBlock caption="Or send a test event:" text={feedbackCurl()} />}
    </EmptyState>
  )
}

const NO_FILTER = {
  receiver: undefined,
  sourceId: undefined,
  projectId: undefined,
  outcome: undefined,
  senderId: undefined,
}
