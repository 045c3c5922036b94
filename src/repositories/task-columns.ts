import { getTableColumns, type SQL, sql } from '../db/drizzle.ts'
import { tasks } from '../db/tables/tasks.ts'

/** The end of a lease that is not over by the clock of the database: those of instances may differ. */
const leaseEnd: SQL<Date | null> =
  sql`case when ${tasks.claimExpiresAt} > clock_timestamp() then ${tasks.claimExpiresAt} end`.mapWith(
    tasks.claimExpiresAt,
  )

/** The columns of a task as they are read. */
export const taskColumns = { ...getTableColumns(tasks), claimExpiresAt: leaseEnd }

const CLAIM = ['claim_expires_at', 'claimed_by_type', 'claimed_by_id', 'claimed_by_name']

/** Assignments of an update: they end the claims of the rows that meet a condition. */
export const endingClaims = (condition: SQL): SQL =>
  sql.join(
    CLAIM.map(sql.raw).map((name) => sql`${name} = case when ${condition} then null else tasks.${name} end`),
    sql`, `,
  )
