import type { ConfigurationChange } from '../repositories/configuration-changes.ts'
import type { Feed } from './feed.ts'

/** Changes of projects and routing, by whichever instance, told to those who follow. */
export function configurationNews({ feed }: { feed: Pick<Feed, 'publish'> }) {
  return {
    /** What came over the channel; an empty text where the connection was broken, and anything may have changed. */
    hear(payload: string): void {
      const changes: (ConfigurationChange | { type: 'project.changed'; projectId: null })[] =
        payload === ''
          ? [{ type: 'project.changed', projectId: null }, { type: 'routing.changed' }]
          : [JSON.parse(payload)]
      for (const { type, ...data } of changes) {
        feed.publish({ type, projectId: 'projectId' in data ? data.projectId : null, data })
      }
    },
  }
}
