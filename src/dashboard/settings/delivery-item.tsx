import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schema } from '../api/client.ts'
import { deliveryQuery } from '../api/queries.ts'
import { CopyBlock } from '../components/copy-block.tsx'
import { DeliveryRow } from './delivery-list.tsx'

export type Delivery = Schema<'Delivery'>

interface DeliveryItemProps {
  delivery: Delivery
  badge: { color: string; text: string }
  /** By its payload; null while that is loaded, and if none is stored. */
  titleOf(payload: unknown): string
  details: (string | false | null | undefined)[]
  /** Undefined if it can't be replayed, whatever is stored of it. */
  replay: (() => Promise<void>) | undefined
  isBusy: boolean
  children?: ReactNode
}

/** A delivery, with what is stored of its payload. */
export function DeliveryItem({ delivery, titleOf, replay, children, ...item }: DeliveryItemProps) {
  const { data: whole } = useQuery(deliveryQuery(delivery.id))
  const payload = whole?.payload ?? null
  return (
    <DeliveryRow
      {...item}
      id={delivery.id}
      title={titleOf(payload)}
      receivedAt={delivery.receivedAt}
      taskId={delivery.tasks[0]?.taskId ?? null}
      replay={payload === null ? undefined : replay}
      payload={
        payload !== null && (
          <CopyBlock
            caption={whole?.payloadCut ? 'First 256 KiB of the payload:' : undefined}
            text={typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)}
          />
        )
      }
    >
      <DeliveryErrors errors={delivery.errors} />
      {children}
    </DeliveryRow>
  )
}

/** What is invalid in it. */
export function DeliveryErrors({ errors }: Pick<Delivery, 'errors'>) {
  if (!errors || errors.length === 0) return null
  return (
    <ul className="small" style={{ flexBasis: '100%', margin: 0, color: 'var(--red)' }}>
      {errors.map(({ path, message }) => (
        <li key={path + message}>
          <code>{path}</code> {message}
        </li>
      ))}
    </ul>
  )
}
