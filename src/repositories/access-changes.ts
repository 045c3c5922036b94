import { sql } from '../db/drizzle.ts'
import type { Executor } from './index.ts'

/** The channel for notices that a key, session or secret was revoked. */
export const ACCESS_CHANGES = 'inlet_access'

/** Sent at the commit. Notices lock commits, but these are rare. */
export async function announceAccessChange(db: Executor): Promise<void> {
  await db.execute(sql`select pg_notify(${ACCESS_CHANGES}, '')`)
}
