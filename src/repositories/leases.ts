import { and, eq, lte, sql } from '../db/drizzle.ts'
import { leases } from '../db/tables/leases.ts'
import { databaseTime, inMs } from './codehost/database-time.ts'
import type { Executor } from './index.ts'

/** Allows one instance to do work, until it ends. */
export interface WorkLease {
  name: string
  number: number
}

/** Leases of work that one instance does at a time. Their times are the database's. */
export function leasesRepository(db: Executor) {
  const isOurs = ({ name, number }: WorkLease) => and(eq(leases.name, name), eq(leases.number, number))

  return {
    /** Undefined while another instance has it, and until the work is due. */
    async take(name: string, leaseMs: number): Promise<WorkLease | undefined> {
      const [taken] = await db
        .insert(leases)
        .values({ name, number: 1, leaseUntil: inMs(leaseMs) })
        .onConflictDoUpdate({
          target: leases.name,
          set: { number: sql`${leases.number} + 1`, leaseUntil: sql`excluded.lease_until` },
          setWhere: lte(leases.leaseUntil, databaseTime),
        })
        .returning({ name: leases.name, number: leases.number })
      return taken
    },

    /** Extends a lease; returns false if it is lost. */
    async renew(lease: WorkLease, leaseMs: number): Promise<boolean> {
      const { rowCount } = await db
        .update(leases)
        .set({ leaseUntil: inMs(leaseMs) })
        .where(isOurs(lease))
      return rowCount === 1
    },

    /** The work is due again after this time. */
    async release(lease: WorkLease, afterMs: number): Promise<void> {
      await db
        .update(leases)
        .set({ leaseUntil: inMs(afterMs) })
        .where(isOurs(lease))
    },
  }
}
