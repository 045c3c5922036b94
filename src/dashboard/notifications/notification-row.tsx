import { ActionIcon } from '@mantine/core'
import { CheckIcon } from '@primer/octicons-react'
import type { Notification } from '../api/notification-queries.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { Link, type Path } from '../navigation/link.tsx'
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

/** What happened, as a sentence without the name of who did it. */
const DONE: Record<Notification['reason'], string> = {
  mentioned: 'mentioned you',
  assigned: 'assigned the task to you',
  commented: 'commented',
  question: 'needs an answer',
  claim_expired: 'Your claim ended before the task was done',
  broken: 'The overview says what fails, and where to mend it',
}

/** Reasons that are nobody's doing. */
const WITHOUT_NAME = ['claim_expired', 'broken']

/** The parts of what happened: who did it, if anybody, and what. */
function textOf({ reason, actor, count }: Notification): { name: string | undefined; what: string } {
  const times = count > 1 ? `, ${count} times` : ''
  return { name: WITHOUT_NAME.includes(reason) ? undefined : actor.name, what: DONE[reason] + times }
}
