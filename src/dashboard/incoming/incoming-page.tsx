import { Button } from '@mantine/core'
import { type RefObject, useRef } from 'react'
import { type DeliveryFilter, deliveriesQuery } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { AddSource } from '../overview/add-source.tsx'
import { OverviewFrame } from '../overview/overview-frame.tsx'
import { useMe } from '../session/session.ts'
import { feedbackCurl } from '../settings/feedback-curl.ts'
import { Rows } from '../settings/rows.tsx'
import styles from './incoming.module.css'
import { IncomingFilters } from './incoming-filters.tsx'
import { IncomingRow } from './incoming-row.tsx'
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
  return (
    <div className="stack">
      {waiting > 0 && (
        <button type="button" className={styles.waiting} onClick={showWaiting}>
          {waiting} new
        </button>
      )}
      <Rows
        label="deliveries"
        query={query}
        queryKey={deliveriesQuery(filter).queryKey}
        empty={<NoDeliveries filter={filter} />}
        more="Show older deliveries"
      >
        {deliveries.map((delivery) => (
          <IncomingRow key={delivery.id} delivery={delivery} />
        ))}
      </Rows>
      {query.isSuccess && !query.hasNextPage && deliveries.length > 0 && (
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
      action={can('admin') && <AddSource />}
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
