import { sql } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/** The channel on which instances tell each other that a key, session or secret ended. */
export const ACCESS_CHANGES = 'inlet_access'

/** Sent when the transaction commits; rare enough that the lock it takes at commit does not matter. */
export async function announceAccessChange(db: Executor): Promise<void> {
  await db.execute(sql`select pg_notify(${ACCESS_CHANGES}, '')`)
}
