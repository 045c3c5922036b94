import { Badge } from '@mantine/core'
import { ChevronDownIcon, ChevronRightIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'
import { RelativeTime } from '../components/relative-time.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import styles from './delivery-row.module.css'
import { Row } from './rows.tsx'

interface DeliveryRowProps {
  id: string
  outcome: { colour: string; text: string }
  title: string
  /** When it arrived, or was sent. */
  time: string
  /** Shown after the time. */
  details: (string | false | null | undefined)[]
  actions?: ReactNode
  /** Why it failed, and what to do. */
  failure?: ReactNode
  /** Shown while it is open. */
  children: ReactNode
}

/** What was received or sent: its outcome, what it was, and when. Opens its details. */
export function DeliveryRow({
  id,
  outcome,
  title,
  time,
  details,
  failure,
  children,
  ...row
}: DeliveryRowProps) {
  const { opened, open, close } = useOpened('delivery')
  const isOpen = opened === id
  const Chevron = isOpen ? ChevronDownIcon : ChevronRightIcon
  return (
    <Row
      {...row}
      className={styles.delivery}
      start={
        <Badge color={outcome.colour} variant="dot">
          {outcome.text}
        </Badge>
      }
      beside={
        <button
          type="button"
          className={`plain-button target ${styles.title}`}
          aria-expanded={isOpen}
          onClick={() => (isOpen ? void close() : open(id))}
        >
          <Chevron size={16} aria-hidden />
          <bdi>{title}</bdi>
        </button>
      }
      details={
        <>
          <RelativeTime dateTime={time} />
          {details.filter(Boolean).map((detail) => ` · ${detail}`)}
        </>
      }
    >
      {failure && <div className={styles.lines}>{failure}</div>}
      {isOpen && <div className={styles.lines}>{children}</div>}
    </Row>
  )
}
