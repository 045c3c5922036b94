import type { ConfigurationChange } from '../../repositories/configuration-changes.ts'
import type { ActivityFeed, TransientEvent } from './feed.ts'

/** Told where news may have been missed: ask again. Its first part names no project, so everybody may hear it. */
export const ANYTHING_MAY_HAVE_CHANGED: TransientEvent[] = [
  { id: null, type: 'project.changed', projectId: null, isForAll: true, data: '{"projectId":null}' },
  { id: null, type: 'routing.changed', projectId: null, data: '{}' },
]

/** Changes of projects and routing, by whichever instance, told to those who follow. */
export function configurationChanges({ feed }: { feed: Pick<ActivityFeed, 'publish'> }) {
  return {
    /** What came over the channel; an empty text where the connection was broken. */
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
