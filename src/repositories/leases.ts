import { and, eq, isNull, lte, or, type PgColumn, type PgTable, type SQL, sql } from '../db/drizzle.ts'
import { leases } from '../db/tables/leases.ts'
import { databaseTime, inMs } from './codehost/database-time.ts'
import type { Executor } from './index.ts'

/** Allows one instance to do work, until it ends. */
export type WorkLease = Pick<typeof leases.$inferSelect, 'name' | 'lease'>

/** Leases of work that one instance does at a time, and that has no row of its own. */
export function leasesRepository(db: Executor) {
  const { take, renew, release } = leasesOf(db, { table: leases, key: 'name' })

  return {
    /** Undefined while another instance has it, and until the work is due. */
    async take(name: string, leaseMs: number): Promise<WorkLease | undefined> {
      await db.insert(leases).values({ name, lease: 0, leaseUntil: databaseTime }).onConflictDoNothing()
      return take({ where: eq(leases.name, name), leaseMs })
    },

    renew,
    release,
  }
}

/** Each of its rows is one worker's at a time, until the lease ends. */
type LeasedTable = PgTable & { lease: PgColumn; leaseUntil: PgColumn }

/** Names a row, and has the number of its lease, which grows with each worker that takes the row. */
type LeaseOf<Key extends string> = Record<Key, string> & { lease: number }

interface Taking<Table extends LeasedTable> {
  /** Of which rows one is taken. */
  where: SQL | undefined
  /** Which of them is taken first. */
  orderBy?: (PgColumn | SQL)[]
  /** What else is changed. */
  set?: Partial<Record<keyof Table['$inferSelect'], unknown>>
  leaseMs: number
}

/**
 * The leases of a table. By the clock of the database only: those of the instances may differ. A worker whose lease is
 * over keeps it until another one takes the row.
 */
export function leasesOf<Table extends LeasedTable, Key extends string & keyof Table>(
  db: Executor,
  {
    table,
    key,
    validWhile,
  }: {
    table: Table
    key: Key
    /** Without this, a lease is lost. */
    validWhile?: SQL
  },
) {
  type Row = Table['$inferSelect']
  const keyColumn = table[key] as PgColumn
  const isFree = or(isNull(table.leaseUntil), lte(table.leaseUntil, databaseTime))
  const isOurs = (lease: LeaseOf<Key>) =>
    and(eq(keyColumn, lease[key]), eq(table.lease, lease.lease), validWhile)

  /** Cast: Drizzle cannot tell the rows of a type parameter. */
  async function update(set: Record<string, unknown>, where: SQL | undefined): Promise<Row | undefined> {
    const [row] = await db
      .update(table as PgTable)
      .set(set)
      .where(where)
      .returning()
    return row as Row | undefined
  }

  return {
    isFree,
    isOurs,

    /** Undefined if there is no free row, without waiting for one that is locked. */
    take({ where, orderBy = [], set = {}, leaseMs }: Taking<Table>): Promise<Row | undefined> {
      const free = db
        .select({ key: keyColumn })
        .from(table as PgTable)
        .where(and(where, isFree))
        .orderBy(...orderBy)
        .limit(1)
        .for('no key update', { skipLocked: true })
      const taken = { ...set, lease: sql`${table.lease} + 1`, leaseUntil: inMs(leaseMs) }
      // A scalar subquery runs once; with `in` it could run for each row and lock another one.
      return update(taken, sql`${keyColumn} = (${free})`)
    },

    /** Extends a lease. Returns the row as it is now; undefined if the lease is lost. */
    renew: (lease: LeaseOf<Key>, leaseMs: number) => update({ leaseUntil: inMs(leaseMs) }, isOurs(lease)),

    /** Others can take the row after this time. */
    async release(lease: LeaseOf<Key>, afterMs: number): Promise<void> {
      await update({ leaseUntil: inMs(afterMs) }, isOurs(lease))
    },
  }
}
