import type { ConfigurationChange } from '../../repositories/configuration-changes.ts'
import type { ActivityFeed, TransientEvent } from './feed.ts'

/** Sent when notices may have been lost: clients refetch. The first names no project, so everyone may receive it. */
export const ANYTHING_MAY_HAVE_CHANGED: TransientEvent[] = [
  { id: null, type: 'project.changed', projectId: null, isForAll: true, data: '{"projectId":null}' },
  { id: null, type: 'routing.changed', projectId: null, data: '{}' },
  { id: null, type: 'notification.changed', projectId: null, to: 'people', data: '{}' },
]

/** Sent when the stream cannot tell what a client missed, because its cursor is of another epoch. */
export const NOTHING_IS_KNOWN: TransientEvent[] = [
  { id: null, type: 'stream.reset', projectId: null, isForAll: true, data: '{}' },
  ...ANYTHING_MAY_HAVE_CHANGED,
]

/** Sends changes of projects and routing on any instance to the stream's subscribers. */
export function configurationChanges({ feed }: { feed: Pick<ActivityFeed, 'publish'> }) {
  return {
    /** Handles a notice; an empty one means that the connection was lost. */
    receive(payload: string): void {
      for (const event of payload === '' ? ANYTHING_MAY_HAVE_CHANGED : [eventOf(JSON.parse(payload))]) {
        feed.publish(event)
      }
    },
  }
}

function eventOf({ type, ...data }: ConfigurationChange): TransientEvent {
  const projectId = 'projectId' in data ? data.projectId : null
  return { id: null, type, projectId, data: JSON.stringify(data) }
}
