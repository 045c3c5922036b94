import { withoutValues } from '../../db/database-error.ts'
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  or,
  sql,
} from '../../db/drizzle.ts'
import { codehostConnections, syncItems, syncRuns } from '../../db/tables/codehost.ts'
import { projects } from '../../db/tables/projects.ts'
import type { Executor, Reach } from '../index.ts'
import type { ConnectionRow } from './connections.ts'

export type SyncRunRow = typeof syncRuns.$inferSelect
export type SyncItemRow = typeof syncItems.$inferSelect

/** Who holds a run: its id, and the number of the claim. */
export type RunLease = Pick<SyncRunRow, 'id' | 'lease'>

const ACTIVE: SyncRunRow['status'][] = ['queued', 'running', 'rate_limited']

/** A worker that does not say within this time that it lives has lost its run. */
const LEASE = sql`interval '20 seconds'`
/** Leases are compared by the database's clock alone: those of the instances may differ. */
const inLease = sql`clock_timestamp() + ${LEASE}`

const isLeasedBy = ({ id, lease }: RunLease) =>
  and(eq(syncRuns.id, id), eq(syncRuns.lease, lease), eq(syncRuns.status, 'running'))

/** Nobody holds it, and nothing says that it should wait longer. */
const waits = (now: Date) =>
  and(
    inArray(syncRuns.status, ACTIVE),
    or(isNull(syncRuns.leaseUntil), lt(syncRuns.leaseUntil, sql`clock_timestamp()`)),
    or(isNull(syncRuns.retryAt), lte(syncRuns.retryAt, now)),
  )

/** The channel on which the instance that works on a run tells the others how far it is. */
export const SYNC_PROGRESS = 'inlet_sync_progress'

/** The runs of projects, within a reach. */
export function syncRunsRepository(db: Executor, reach: Reach) {
  const inReach = reach.projectId === null ? undefined : eq(syncRuns.projectId, reach.projectId)

  return {
    /** False when the project has an active run already, also one that was started this moment. */
    async insert(row: SyncRunRow): Promise<boolean> {
      const made = await db.insert(syncRuns).values(row).onConflictDoNothing().returning({ id: syncRuns.id })
      return made.length > 0
    },

    async find(projectId: string, id: string): Promise<SyncRunRow | undefined> {
      const [row] = await db
        .select()
        .from(syncRuns)
        .where(and(eq(syncRuns.id, id), eq(syncRuns.projectId, projectId), inReach))
      return row
    },

    async findActive(projectId: string): Promise<SyncRunRow | undefined> {
      const [row] = await db
        .select()
        .from(syncRuns)
        .where(and(eq(syncRuns.projectId, projectId), inArray(syncRuns.status, ACTIVE), inReach))
      return row
    },

    /** The same, locked: whoever is at it commits no further page. */
    async findActiveForUpdate(projectId: string): Promise<SyncRunRow | undefined> {
      const [row] = await db
        .select()
        .from(syncRuns)
        .where(and(eq(syncRuns.projectId, projectId), inArray(syncRuns.status, ACTIVE), inReach))
        .for('update')
      return row
    },

    /** Newest first. */
    async list(projectId: string, before: string | undefined, limit: number): Promise<SyncRunRow[]> {
      return db
        .select()
        .from(syncRuns)
        .where(and(eq(syncRuns.projectId, projectId), inReach, before ? lt(syncRuns.id, before) : undefined))
        .orderBy(desc(syncRuns.id))
        .limit(limit)
    },

    /** Locks the run for a page; undefined when somebody else holds it now, or it has ended. */
    async findLeasedForUpdate(lease: RunLease): Promise<SyncRunRow | undefined> {
      const [row] = await db
        .select()
        .from(syncRuns)
        .where(and(isLeasedBy(lease), inReach))
        .for('update')
      return row
    },

    async update(id: string, change: Partial<SyncRunRow>): Promise<void> {
      await db
        .update(syncRuns)
        .set(change)
        .where(and(eq(syncRuns.id, id), inReach))
    },

    /** What the run said before of these entries. */
    async listSeen(runId: string, numbers: number[]): Promise<SyncItemRow[]> {
      return db
        .select()
        .from(syncItems)
        .where(
          and(eq(syncItems.runId, runId), sql`${syncItems.number} = any(${sql.param(numbers)}::integer[])`),
        )
    },

    /** All of one run. */
    async saveSeen(rows: SyncItemRow[]): Promise<void> {
      if (rows.length === 0) return
      const [runId] = rows.map(({ runId }) => runId)
      await db.execute(sql`
        insert into ${syncItems} (run_id, number, outcome)
        select ${runId}::uuid, * from unnest(
          ${sql.param(rows.map(({ number }) => number))}::integer[],
          ${sql.param(rows.map(({ outcome }) => outcome))}::text[])
        on conflict (run_id, number) do update set outcome = excluded.outcome`)
    },

    async deleteSeen(runId: string): Promise<void> {
      await db.delete(syncItems).where(eq(syncItems.runId, runId))
    },
  }
}

/** The runs as work to be done: outside any reach, for whichever instance looks first. */
export function syncQueue(db: Executor) {
  return {
    /** Takes the run that has waited longest: queued, due again, given way, or left by a worker that lives no more. */
    async claim(now: Date): Promise<SyncRunRow | undefined> {
      const next = db
        .select({ id: syncRuns.id })
        .from(syncRuns)
        .where(waits(now))
        .orderBy(sql`coalesce(${syncRuns.leaseUntil}, ${syncRuns.createdAt})`, asc(syncRuns.id))
        .limit(1)
        .for('update', { skipLocked: true })
      const [row] = await db
        .update(syncRuns)
        .set({
          status: 'running',
          retryAt: null,
          lease: sql`${syncRuns.lease} + 1`,
          leaseUntil: inLease,
          attempts: sql`${syncRuns.attempts} + 1`,
          startedAt: sql`coalesce(${syncRuns.startedAt}, ${now.toISOString()}::timestamptz)`,
        })
        // One value, asked for once; a list might be asked for again for each row, and take another.
        .where(sql`${syncRuns.id} = (${next})`)
        .returning()
      return row
    },

    /** A statement that fails repeats its values in the error, and these are texts of issues: it throws without them. */
    async redacted<T>(work: () => Promise<T>): Promise<T> {
      return work().catch((error) => {
        throw withoutValues(error)
      })
    },

    /** Whether any run could be claimed. */
    async isAnyWaiting(now: Date): Promise<boolean> {
      const rows = await db.select({ id: syncRuns.id }).from(syncRuns).where(waits(now)).limit(1)
      return rows.length > 0
    },

    async find(id: string): Promise<SyncRunRow | undefined> {
      const [row] = await db.select().from(syncRuns).where(eq(syncRuns.id, id))
      return row
    },

    /** Tells every instance; one page takes long enough that the lock of a notice does not matter. */
    async announce(notice: string): Promise<void> {
      await db.execute(sql`select pg_notify(${SYNC_PROGRESS}, ${notice})`)
    },

    /** Says that the worker lives; false when the run is no longer its own. */
    async extend(lease: RunLease): Promise<boolean> {
      const rows = await db
        .update(syncRuns)
        .set({ leaseUntil: inLease })
        .where(isLeasedBy(lease))
        .returning({ id: syncRuns.id })
      return rows.length > 0
    },

    /** Leaves the run to whoever looks next, at once or after some seconds. */
    async release(lease: RunLease, { afterSeconds }: { afterSeconds: number }): Promise<void> {
      await db
        .update(syncRuns)
        .set({ leaseUntil: sql`clock_timestamp() + make_interval(secs => ${afterSeconds})` })
        .where(isLeasedBy(lease))
    },

    /** Connections whose time has come and that have no active run, locked with their projects until the transaction ends. */
    async listDueForUpdate(now: Date, limit: number): Promise<ConnectionRow[]> {
      return db
        .select(getTableColumns(codehostConnections))
        .from(codehostConnections)
        .innerJoin(projects, eq(projects.id, codehostConnections.projectId))
        .where(
          and(
            isNotNull(codehostConnections.nextRunAt),
            lte(codehostConnections.nextRunAt, now),
            isNull(projects.archivedAt),
            sql`not exists (select from sync_runs where sync_runs.project_id = ${codehostConnections.projectId}
              and sync_runs.status in ('queued', 'running', 'rate_limited'))`,
          ),
        )
        .orderBy(asc(codehostConnections.nextRunAt))
        .limit(limit)
        .for('no key update', { of: [projects, codehostConnections], skipLocked: true })
    },
  }
}
