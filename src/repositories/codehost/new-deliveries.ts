import { eq, getTableColumns, type SQL, sql } from '../../db/drizzle.ts'
import { codehostConnections, codehostDeliveries } from '../../db/tables/codehost.ts'
import type { Executor } from '../index.ts'
import { databaseTime } from './database-time.ts'

// Prepared, because each delivery needs both: built each time, they took a third of its processor time in Node.

/** A delivery to store. When it is to be applied is up to the clock of the database. */
export type NewDelivery = Omit<typeof codehostDeliveries.$inferSelect, 'nextAttemptAt'>

export const connectionById = (db: Executor) =>
  db
    .select()
    .from(codehostConnections)
    .where(eq(codehostConnections.id, sql.placeholder('id')))
    .prepare('find connection of delivery')

/** Cast: one for each column. As SQL, because drizzle would encode null as a time. */
const placeholders = Object.fromEntries(
  Object.keys(getTableColumns(codehostDeliveries)).map((name) => [name, sql`${sql.placeholder(name)}`]),
) as Record<keyof NewDelivery, SQL>
const isReceived = sql`${sql.placeholder('status')} = 'received'`

export const newDelivery = (db: Executor) =>
  db
    .insert(codehostDeliveries)
    .values({ ...placeholders, nextAttemptAt: sql`case when ${isReceived} then ${databaseTime} end` })
    .onConflictDoNothing()
    .returning({ id: codehostDeliveries.id })
    .prepare('insert delivery')
