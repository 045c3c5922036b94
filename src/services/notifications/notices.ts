import type { ActivityFeed } from '../activity/feed.ts'

/** Tells people, over their streams, that any instance has changed their notifications. */
export function notificationNotices({ feed }: { feed: Pick<ActivityFeed, 'publish'> }) {
  return {
    /** Handles a notice; an empty one means that the connection was lost, of which all streams hear anyway. */
    receive(payload: string): void {
      if (payload === '') return
      for (const userId of JSON.parse(payload) as string[])
        feed.publish({ id: null, type: 'notification.changed', projectId: null, to: userId, data: '{}' })
    },
  }
}
