import { ActionIcon } from '@mantine/core'
import { BellIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { MAX_UNREAD, unreadQuery } from '../api/notification-queries.ts'
import { Link } from '../navigation/link.tsx'
import styles from './sidebar.module.css'

/** Leads to what concerns the person who is signed in, with the number of what is unread. */
export default function NotificationsLink() {
  const { data } = useQuery(unreadQuery)
  const count = data?.count ?? 0
  const number = `${count.toLocaleString()}${count < MAX_UNREAD ? '' : '+'}`
  return (
    <ActionIcon
      size={32}
      className={styles.bell}
      aria-label={count > 0 ? `Notifications, ${number} unread` : 'Notifications'}
      renderRoot={(props) => <Link to="/notifications" {...props} />}
    >
      <BellIcon size={16} />
      {count > 0 && (
        <span className={styles.unread} aria-hidden>
          {number}
        </span>
      )}
    </ActionIcon>
  )
}
