import { hash } from 'node:crypto'
import { type AnyColumn, getTableColumns, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'

/** The end of a lease that is not over by the clock of the database: those of instances may differ. */
const leaseEnd: SQL<Date | null> =
  sql`case when ${tasks.claimExpiresAt} > clock_timestamp() then ${tasks.claimExpiresAt} end`.mapWith(
    tasks.claimExpiresAt,
  )

/** The columns of a task as they are read. */
export const taskColumns = { ...getTableColumns(tasks), claimExpiresAt: leaseEnd }

/**
 * The columns of tasks to decide a change on, of which there can be a hundred: of their long texts, the database tells only
 * which equal one of those that the change would write. Any other is `OTHER_TEXT`.
 */
export function comparedColumns(texts: string[]) {
  const textOf = new Map(texts.map((text) => [hash('sha256', text), text]))
  const compared = (column: AnyColumn): SQL<string | null> => {
    const hashed = texts.length > 0 ? sql`encode(sha256(convert_to(${column}, 'UTF8')), 'hex')` : sql`''`
    return sql`case when ${column} is not null then ${hashed} end`.mapWith(
      (digest: string) => textOf.get(digest) ?? OTHER_TEXT,
    )
  }
  return { ...taskColumns, description: compared(tasks.description), notes: compared(tasks.notes) }
}

/** No request can have it. */
const OTHER_TEXT = '\0'

const CLAIM = ['claim_expires_at', 'claimed_by_type', 'claimed_by_id', 'claimed_by_name']

/** Assignments of an update: they end the claims of the rows that meet a condition. */
export const endingClaims = (condition: SQL): SQL =>
  sql.join(
    CLAIM.map(sql.raw).map((name) => sql`${name} = case when ${condition} then null else tasks.${name} end`),
    sql`, `,
  )
