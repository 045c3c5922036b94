import { ActionIcon } from '@mantine/core'
import { CheckIcon } from '@primer/octicons-react'
import type { Notification } from '../api/notification-queries.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { Link, type Path } from '../navigation/link.tsx'
import { textOf } from './notification-text.ts'
import styles from './notifications.module.css'

interface NotificationRowProps {
  notification: Notification
  onRead(): void
}

/** What it is about, who did what, and when. Its link leads there, and marks it as read. */
export function NotificationRow({ notification, onRead }: NotificationRowProps) {
  const { id, taskId, taskTitle, createdAt, readAt } = notification
  const isUnread = readAt === null
  const target: Path = taskId === null ? '/overview' : `/tasks/${taskId}`
  const title = taskTitle ?? 'Something that Inlet receives or sends through is failing'
  const { name, what } = textOf(notification)
  return (
    <li className={styles.row} data-unread={isUnread || undefined}>
      <Link
        to={target}
        className={styles.link}
        data-notification={id}
        onClick={isUnread ? onRead : undefined}
      >
        {isUnread && <span className="visually-hidden">Unread: </span>}
        <bdi className={styles.title}>{title}</bdi>
        <span className={styles.what}>
          {name && <bdi>{name} </bdi>}
          {what}
        </span>
      </Link>
      <span className={styles.time}>
        <RelativeTime dateTime={createdAt} isShort />
      </span>
      <span className={styles.end}>
        {isUnread && (
          <ActionIcon aria-label={`Mark as read: ${title}`} onClick={onRead}>
            <CheckIcon size={16} />
          </ActionIcon>
        )}
      </span>
    </li>
  )
}
