import { bigint, pgTable, text } from '../drizzle.ts'
import { timestamptz } from './columns.ts'

/** Work that one instance does at a time. */
export const leases = pgTable('leases', {
  /** What the work is called, such as `cleanup`. */
  name: text('name').primaryKey(),
  /** Grows whenever the lease is taken. */
  lease: bigint('number', { mode: 'number' }).notNull(),
  /** When it can be taken again: the end of the lease, or when the work is due next. */
  leaseUntil: timestamptz('lease_until').notNull(),
})
