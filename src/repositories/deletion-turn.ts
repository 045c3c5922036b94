import { sql } from '../db/drizzle.ts'
import { listDeletions, projectDeletions } from '../db/tables/projects.ts'
import type { Executor } from './index.ts'

/** Held by whoever works on a deletion of a list or project, and while they pause before it. */
const DELETION_LOCK = 7_461_004

/** The turn to work on a deletion: one at a time across all instances, so that their pauses are pauses of all. */
export function deletionTurn(db: Executor) {
  return {
    /** Whether there is any deletion: one statement, while an attempt to take the turn takes three. */
    async isNeeded(): Promise<boolean> {
      const { rows } = await db.execute<{ isNeeded: boolean }>(sql`select ${anyDeletion} as "isNeeded"`)
      return rows[0]?.isNeeded ?? false
    },

    /** Takes the turn until the transaction ends. Never waits: false if another has it, or if there are no deletions. */
    async take(): Promise<boolean> {
      const { rows } = await db.execute<{ isMine: boolean }>(sql`
        select case when ${anyDeletion}
          then pg_try_advisory_xact_lock(${DELETION_LOCK}) else false end as "isMine"`)
      return rows[0]?.isMine ?? false
    },
  }
}

const anyDeletion = sql`(exists (select from ${listDeletions}) or exists (select from ${projectDeletions}))`
