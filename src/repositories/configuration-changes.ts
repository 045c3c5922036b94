import { sql } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/** The channel for notices that projects or routing changed, for which there is no activity. */
export const CONFIGURATION_CHANGES = 'inlet_configuration'

export type ConfigurationChange = { type: 'project.changed'; projectId: string } | { type: 'routing.changed' }

/** Sent at the commit. Notices lock commits, but these are rare. */
export function configurationChanges(db: Executor) {
  async function announce(change: ConfigurationChange): Promise<void> {
    await db.execute(sql`select pg_notify(${CONFIGURATION_CHANGES}, ${JSON.stringify(change)})`)
  }
  return {
    /** A project, its lists or its connection to a code host. */
    announceProject: (projectId: string) => announce({ type: 'project.changed', projectId }),
    announceRouting: () => announce({ type: 'routing.changed' }),
  }
}
