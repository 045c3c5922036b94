import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { recentDeliveriesQuery, type Source } from './source-queries.ts'
import { useSources } from './use-sources.ts'

interface RecentDeliveriesProps {
  /** Whose deliveries are offered; without one, those of every door. */
  source: Source | undefined
  onPick(id: string): void
}

const DOORS = { feedback: 'Feedback webhook', source: 'Deleted source', codehost: 'Code host' }

/** Offers what has arrived lately as an example. Nothing where nothing has. */
export function RecentDeliveries({ source, onPick }: RecentDeliveriesProps) {
  const { data: deliveries = [] } = useQuery(recentDeliveriesQuery(source?.id))
  const sources = useSources()
  if (deliveries.length === 0) return null
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  const nameOf = ({ sourceId, receiver }: Schema<'Delivery'>) =>
    sources.find(({ id }) => id === sourceId)?.name ?? DOORS[receiver]
  return (
    <Select
      label="Recent deliveries"
      placeholder="Pick a delivery as the example"
      data={deliveries.map((delivery) => ({
        value: delivery.id,
        label: [nameOf(delivery), delivery.event, delivery.outcome].filter(Boolean).join(', '),
      }))}
      renderOption={({ option }) => {
        const delivery = byId.get(option.value)
        return (
          <span>
            {option.label}{' '}
            <span className="quiet small">{delivery && <RelativeTime dateTime={delivery.receivedAt} />}</span>
          </span>
        )
      }}
      value={null}
      onChange={(id) => id && onPick(id)}
    />
  )
}
