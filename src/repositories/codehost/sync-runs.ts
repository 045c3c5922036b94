import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lte,
  or,
  sql,
} from '../../db/drizzle.ts'
import { codehostConnections, syncItems, syncRuns } from '../../db/tables/codehost.ts'
import { projects } from '../../db/tables/projects.ts'
import { ACTIVE_STATUSES } from '../../domain/codehost/progress.ts'
import type { Executor } from '../index.ts'
import { leasesOf } from '../leases.ts'
import { isWithin } from '../ordered-by-index.ts'
import { isReached, type Reach } from '../reach.ts'
import { opaque } from '../task-page-conditions.ts'
import type { ConnectionRow } from './connections.ts'

export type SyncRunRow = typeof syncRuns.$inferSelect
export type SyncItemRow = typeof syncItems.$inferSelect

/** A worker's claim on a run: the run's id and the number of the lease. */
export type RunLease = Pick<SyncRunRow, 'id' | 'lease'>

/** A worker that does not extend its lease within this time loses the run. */
const LEASE_MS = 20_000

const leasesOn = (db: Executor) =>
  leasesOf(db, { table: syncRuns, key: 'id', validWhile: eq(syncRuns.status, 'running') })

/** Active, and not rate limited. */
const isDue = (now: Date) =>
  and(inArray(syncRuns.status, ACTIVE_STATUSES), or(isNull(syncRuns.retryAt), lte(syncRuns.retryAt, now)))

/** The channel for the progress of runs. */
export const SYNC_PROGRESS = 'inlet_sync_progress'

/** The runs of projects, within a reach. */
export function syncRunsRepository(db: Executor, reach: Reach) {
  const inReach = isReached(syncRuns.projectId, reach)

  return {
    /** Returns false if the project has an active run, also one that was started concurrently. */
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
        .where(and(eq(syncRuns.projectId, projectId), inArray(syncRuns.status, ACTIVE_STATUSES), inReach))
      return row
    },

    /** The same, locked: its worker cannot commit further pages. */
    async findActiveForUpdate(projectId: string): Promise<SyncRunRow | undefined> {
      const [row] = await db
        .select()
        .from(syncRuns)
        .where(and(eq(syncRuns.projectId, projectId), inArray(syncRuns.status, ACTIVE_STATUSES), inReach))
        .for('update')
      return row
    },

    /** Newest first. */
    async list(
      projectId: string,
      { before, limit }: { before: string | undefined; limit: number },
    ): Promise<SyncRunRow[]> {
      return db
        .select()
        .from(syncRuns)
        .where(
          and(
            isWithin(syncRuns.projectId, projectId),
            inReach && opaque(inReach),
            before
              ? sql`(${syncRuns.projectId}, ${syncRuns.id}) < (${projectId}, ${before}::uuid)`
              : undefined,
          ),
        )
        .orderBy(desc(syncRuns.projectId), desc(syncRuns.id))
        .limit(limit)
    },

    /** Locks the run for a write; undefined if another worker has it, or it has ended. */
    async findLeasedForUpdate(lease: RunLease): Promise<SyncRunRow | undefined> {
      const [row] = await db
        .select()
        .from(syncRuns)
        .where(and(leasesOn(db).isOurs(lease), inReach))
        .for('update')
      return row
    },

    async update(id: string, change: Partial<SyncRunRow>): Promise<void> {
      await db
        .update(syncRuns)
        .set(change)
        .where(and(eq(syncRuns.id, id), inReach))
    },

    /** The earlier outcomes of these items in the run. */
    async listSeen(runId: string, numbers: number[]): Promise<SyncItemRow[]> {
      return db
        .select()
        .from(syncItems)
        .where(
          and(eq(syncItems.runId, runId), sql`${syncItems.number} = any(${sql.param(numbers)}::integer[])`),
        )
    },

    /** Stores outcomes of one run. */
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

/** The queue of sync runs: outside any reach, shared by all instances. */
export function syncQueue(db: Executor) {
  const leases = leasesOn(db)

  return {
    /** Claims the run that has waited longest: queued, due again, released, or abandoned by its worker. */
    async claim(now: Date): Promise<SyncRunRow | undefined> {
      return leases.take({
        where: isDue(now),
        orderBy: [sql`coalesce(${syncRuns.leaseUntil}, ${syncRuns.createdAt})`, asc(syncRuns.id)],
        set: {
          status: 'running',
          retryAt: null,
          attempts: sql`${syncRuns.attempts} + 1`,
          startedAt: sql`coalesce(${syncRuns.startedAt}, ${now.toISOString()}::timestamptz)`,
        },
        leaseMs: LEASE_MS,
      })
    },

    /** Whether any run could be claimed. */
    async isAnyWaiting(now: Date): Promise<boolean> {
      const rows = await db
        .select({ id: syncRuns.id })
        .from(syncRuns)
        .where(and(isDue(now), leases.isFree))
        .limit(1)
      return rows.length > 0
    },

    async find(id: string): Promise<SyncRunRow | undefined> {
      const [row] = await db.select().from(syncRuns).where(eq(syncRuns.id, id))
      return row
    },

    /** Notifies every instance. Notices lock commits, but pages are rare enough. */
    async announce(notice: string): Promise<void> {
      await db.execute(sql`select pg_notify(${SYNC_PROGRESS}, ${notice})`)
    },

    renew: (lease: RunLease): Promise<SyncRunRow | undefined> => leases.renew(lease, LEASE_MS),
    release: leases.release,

    /** Due connections without an active run, locked with their projects until the transaction ends. */
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
              and ${inArray(syncRuns.status, ACTIVE_STATUSES)})`,
          ),
        )
        .orderBy(asc(codehostConnections.nextRunAt))
        .limit(limit)
        .for('no key update', { of: [projects, codehostConnections], skipLocked: true })
    },
  }
}
