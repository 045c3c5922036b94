import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { api, dataOf } from '../api/client.ts'
import { notificationsQuery } from '../api/notification-queries.ts'
import { itemsOf } from '../api/queries.ts'
import { EmptyState } from '../components/empty-state.tsx'
import pageStyles from '../components/page.module.css'
import { useMutation } from '../components/use-mutation.ts'
import { usePageTitle } from '../components/use-page-title.ts'
import { useRowKeys } from '../keyboard/use-row-keys.ts'
import { Link } from '../navigation/link.tsx'
import { useSearchOf } from '../navigation/use-search-of.ts'
import { NO_PERSON, useMe } from '../session/session.ts'
import { Rows } from '../settings/rows.tsx'
import { NotificationRow } from './notification-row.tsx'
import styles from './notifications.module.css'

/** What concerns the person who is signed in, the latest first. */
export default function NotificationsPage() {
  const { me } = useMe()
  const isUnread = useSearchOf(({ show }) => show !== 'all')
  const options = notificationsQuery(isUnread)
  const query = useInfiniteQuery({ ...options, enabled: Boolean(me?.user) })
  const list = useRef<HTMLDivElement>(null)
  const { read, isBusy } = useRead()
  usePageTitle('Notifications')
  const notifications = itemsOf(query.data)
  useRowKeys({
    list,
    count: notifications.length,
    selector: '[data-notification]',
    key: 'e',
    onKey: ({ dataset: { notification = '' } }) => void read([notification]),
  })
  const hasUnread = notifications.some(({ readAt }) => readAt === null)

  return (
    <section className={pageStyles.page} aria-label="Notifications">
      <header className={styles.head}>
        <h1>Notifications</h1>
        <nav aria-label="Which notifications" className={styles.tabs}>
          <Link to="/notifications" isActive={isUnread} {...TAB}>
            Unread
          </Link>
          <Link to="/notifications" search={{ show: 'all' }} {...TAB}>
            All
          </Link>
        </nav>
        {hasUnread && (
          <Button variant="default" className="push" loading={isBusy} onClick={() => void read('all')}>
            Mark all as read
          </Button>
        )}
      </header>
      {me?.user ? (
        <div ref={list}>
          <Rows
            label="notifications"
            query={query}
            queryKey={options.queryKey}
            empty={<NoNotifications isUnread={isUnread} />}
            more="Show older notifications"
          >
            {notifications.map((notification) => (
              <NotificationRow
                key={notification.id}
                notification={notification}
                onRead={() => void read([notification.id])}
              />
            ))}
          </Rows>
        </div>
      ) : (
        <EmptyState title="Only people have notifications" description={NO_PERSON} />
      )}
    </section>
  )
}

/** Marks notifications as read, some or all. */
function useRead() {
  const { mutate, isBusy } = useMutation('notifications')
  return {
    isBusy,
    read: (ids: string[] | 'all') =>
      mutate("Couldn't mark as read", () =>
        dataOf(api.POST('/api/notifications/read', { body: ids === 'all' ? { all: true } : { ids } })),
      ),
  }
}

const TAB = { className: styles.tab, activeClassName: styles.active }

function NoNotifications({ isUnread }: { isUnread: boolean }) {
  return (
    <EmptyState
      title={isUnread ? 'Nothing is unread' : 'You have no notifications'}
      description="You are told when somebody assigns a task to you, mentions you, or comments on a task that you follow."
      action={
        isUnread && (
          <Link to="/notifications" search={{ show: 'all' }} className="target">
            View all notifications
          </Link>
        )
      }
    />
  )
}
