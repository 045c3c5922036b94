import { sql } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/** The channel on which instances hear that projects or routing changed, which no entry of the record tells. */
export const CONFIGURATION_CHANGES = 'inlet_configuration'

export type ConfigurationChange = { type: 'project.changed'; projectId: string } | { type: 'routing.changed' }

/** Sent when the transaction commits; rare enough that the lock it takes at commit does not matter. */
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
