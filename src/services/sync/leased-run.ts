import type { HostLimits } from '../../clients/codehost.ts'
import type { Checkpoint } from '../../domain/codehost/progress.ts'
import type { ConnectionRow } from '../../repositories/codehost/connections.ts'
import type { SyncRunRow } from '../../repositories/codehost/sync-runs.ts'
import { type BoundRepositories, inProject } from '../../repositories/index.ts'
import { endRun } from '../codehost/run-end.ts'
import { ARCHIVED, DISCONNECTED, type RunError } from '../codehost/run-errors.ts'
import { type GoneItem, markGone } from './items.ts'
import { type PageToWrite, rateLimitOf, writePage } from './page.ts'
import type { RunDeps } from './run.ts'

export type LeasedRun = ReturnType<typeof leasedRun>

/**
 * A claimed run and its writes. Each write locks the project, its connection and the run, in this order as everywhere,
 * and checks the lease: a worker that lost it, or whose repository was disconnected, writes nothing.
 */
export function leasedRun(
  { repos, clock, publish }: Pick<RunDeps, 'repos' | 'clock' | 'publish'>,
  run: SyncRunRow,
) {
  let { limited } = run

  return {
    /** Writes a page; returns where the run continues. False if it is over for this worker. */
    async write(page: PageToWrite): Promise<Checkpoint | undefined | false> {
      let next: Checkpoint | undefined
      const isWritten = await whileConnected(async (repos, { run, connection, end }) => {
        // They were switched off meanwhile.
        if (page.comments && !connection.comments) return end(null)
        const written = await writePage(repos, { clock, run, connection, page })
        next = asCheckpoint(written.checkpoint)
        return written
      })
      return isWritten && next
    },

    /** Stores how many items there are to fetch. Returns false if the run is over for this worker. */
    async writeTotal(total: number): Promise<boolean> {
      return whileConnected(async (repos, { run }) => {
        await repos.syncRuns.update(run.id, { total })
        return { ...run, total }
      })
    },

    /** Marks the tasks of items that are no longer listed. */
    async writeGone(items: GoneItem[], limits: HostLimits): Promise<boolean> {
      return whileConnected(async (repos, { run, connection }) => {
        let { gone } = run
        for (const item of items) if (await markGone(repos, { clock, connection, item })) gone++
        const change = { gone, rateLimit: rateLimitOf(limits), attempts: 0, limited: 0 }
        await repos.syncRuns.update(run.id, change)
        return { ...run, ...change }
      })
    },

    /**
     * Postpones a rate-limited run; any instance resumes it at that time.
     * @param refused undefined if nothing was requested, because the token has to wait for another reason
     */
    async postpone(retryAt: Date, refused?: { isGuess: boolean; limits: HostLimits }): Promise<undefined> {
      await whileLeased(async (repos, { run }) => {
        const change = {
          status: 'rate_limited' as const,
          retryAt,
          leaseUntil: null,
          attempts: 0,
          ...(refused && {
            rateLimit: rateLimitOf(refused.limits),
            limited: refused.isGuess ? run.limited + 1 : 0,
          }),
        }
        await repos.syncRuns.update(run.id, change)
        return { ...run, ...change }
      })
    },

    /** Ends the run: completed without an error, else failed. */
    async end(error: RunError | null, limits?: HostLimits): Promise<undefined> {
      const publicError = error && { code: error.code, message: error.message }
      const rateLimit = limits && rateLimitOf(limits)
      await whileLeased((repos, { run }) => endRun(repos, { clock, run, error: publicError, rateLimit }))
    },

    /** Consecutive rate limits that did not say how long to wait. */
    limitedBefore: () => limited,
  }

  /**
   * Returns false if the run is over for this worker, also if it ends because its connection or project was deleted.
   */
  async function whileConnected(
    work: (
      repos: BoundRepositories,
      leased: {
        run: SyncRunRow
        connection: ConnectionRow
        /** Ends the run instead. */
        end(error: RunError | null): Promise<SyncRunRow>
      },
    ) => Promise<SyncRunRow>,
  ): Promise<boolean> {
    let isOver = false
    const written = await whileLeased(async (repos, { run, connection, isArchived }) => {
      isOver = false
      const end = (error: RunError | null) => {
        isOver = true
        return endRun(repos, { clock, run, error })
      }
      // If another repository is connected now, the fetched items are not of it.
      if (connection?.id !== run.connectionId) return end(DISCONNECTED)
      if (isArchived) return end(ARCHIVED)
      return work(repos, { run, connection, end })
    })
    return written !== undefined && !isOver
  }

  async function whileLeased(
    work: (repos: BoundRepositories, locked: LockedRun) => Promise<SyncRunRow>,
  ): Promise<SyncRunRow | undefined> {
    const { projectId } = run
    const after = await repos.within(inProject(projectId)).transaction(async (repos) => {
      const project = await repos.projects.findForUpdate(projectId)
      const connection = await repos.codehost.findForUpdate(projectId)
      const leased = await repos.syncRuns.findLeasedForUpdate(run)
      return leased && work(repos, { run: leased, connection, isArchived: project?.archivedAt != null })
    })
    if (after) {
      limited = after.limited
      publish(after)
    }
    return after
  }
}

/** Cast: only `writePage` writes this column. */
export const asCheckpoint = (json: unknown) => (json ?? undefined) as Checkpoint | undefined

/** A locked run, and the current state of what it writes to. */
interface LockedRun {
  run: SyncRunRow
  connection: ConnectionRow | undefined
  isArchived: boolean
}
