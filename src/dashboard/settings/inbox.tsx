import { Badge, Button } from '@mantine/core'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { loadMore } from '../api/invalidate.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { Link } from '../navigation/link.tsx'
import styles from './settings.module.css'

/** Inboxes poll: what they receive does not always change a task, so the stream does not report it. */
const POLL_MS = 5_000

/** With more pages loaded a refetch would load all of them again. */
export const pollFirstPage = ({ state }: { state: { data?: { pages: unknown[] } | undefined } }) =>
  state.data?.pages.length === 1 ? POLL_MS : false

interface InboxRowsProps {
  /** What they are, in the plural. */
  what: string
  query: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetching' | 'refetch' | 'fetchNextPage'
  >
  /** One item for each delivery or event. */
  children: ReactNode[]
}

/** The rows of an inbox that are loaded, newest first. */
export function InboxRows({ what, query, children }: InboxRowsProps) {
  return (
    <>
      {children.length > 0 && <ul className={styles.rows}>{children}</ul>}
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void loadMore(query)}>
          Show older {what}
        </Button>
      )}
    </>
  )
}

interface InboxItemProps {
  badge: { color: string; text: string }
  title: string
  receivedAt: string
  /** Shown after the time. */
  details: (string | false | null | undefined)[]
  taskId: string | null
  /** Undefined if nothing is stored to replay. */
  replay?: (() => Promise<void>) | undefined
  isBusy: boolean
  payload: ReactNode
  /** Shown above the payload. */
  children?: ReactNode
}

/** Something that was received: its outcome, and buttons for what is stored of it. */
export function InboxItem({ badge, title, receivedAt, details, taskId, replay, ...item }: InboxItemProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li className={styles.item} style={{ flexWrap: 'wrap' }}>
      <Badge color={badge.color} variant="dot" tt="none" style={{ flex: 'none' }}>
        {badge.text}
      </Badge>
      <div className={styles.main}>
        <div>{title}</div>
        <div className="quiet small">
          <RelativeTime dateTime={receivedAt} />
          {details.filter(Boolean).map((detail) => ` · ${detail}`)}
        </div>
      </div>
      {taskId && (
        <Link to={`/tasks/${taskId}`} className="target">
          View task
        </Link>
      )}
      {replay && (
        <>
          <Button variant="default" loading={item.isBusy} onClick={() => void replay()}>
            Replay
          </Button>
          <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide payload' : 'Show payload'}
          </Button>
        </>
      )}
      {item.children}
      {isOpen && (
        <div style={{ flexBasis: '100%' }} className={styles.payload}>
          {item.payload}
        </div>
      )}
    </li>
  )
}
