import type { HostLimits } from '../clients/codehost.ts'
import type { BoundRepositories } from '../repositories/index.ts'
import type { SyncRunRow } from '../repositories/sync-runs.ts'
import { entry } from './activity-entry.ts'
import { DISCONNECTED, endRun, type RunError } from './sync-end.ts'
import { type PageToWrite, rateLimitOf, writePage } from './sync-page.ts'
import type { RunDeps } from './sync-run.ts'

export type HeldRun = ReturnType<typeof heldRun>

/**
 * A claimed run and all that may be written to it. Each write locks the run's row and checks the number of the
 * lease first: a worker that lost it, or whose repository was disconnected, writes nothing and is told so.
 */
export function heldRun(
  { repos, clock, publish }: Pick<RunDeps, 'repos' | 'clock' | 'publish'>,
  run: SyncRunRow,
) {
  return {
    /** Writes a page. False when the run is over for this worker. */
    async write(page: PageToWrite): Promise<boolean> {
      let isOver = false
      const written = await whileHeld(async (repos, run) => {
        const end = (error: RunError) => {
          isOver = true
          return endRun(repos, clock, run, error)
        }
        const connection = await repos.codehost.find(run.projectId)
        // Another repository may be connected by now: what was fetched from the old one is not its.
        if (connection?.id !== run.connectionId) return end(DISCONNECTED)
        const where = await repos.lists.findDestination(connection.listId ?? undefined)
        if (!where || where.isArchived) return end(ARCHIVED)
        return writePage(repos, clock, run, connection, where, page)
      })
      return written !== undefined && !isOver
    },

    /** An entry that left the listing: the task stays and says so. */
    async writeGone(
      number: number,
      sourceState: 'transferred' | 'deleted',
      limits: HostLimits,
    ): Promise<boolean> {
      const written = await whileHeld(async (repos, run) => {
        const connection = await repos.codehost.find(run.projectId)
        // The next write to the run finds out and says so.
        if (connection?.id !== run.connectionId) return undefined
        const { projectId } = run
        const at = clock.now()
        const task = await repos.syncedTasks.markGone(projectId, connection.repositoryId, number, {
          sourceState,
          at,
        })
        const change = {
          gone: run.gone + (task ? 1 : 0),
          rateLimit: rateLimitOf(limits),
          attempts: 0,
          limited: 0,
        }
        await repos.syncRuns.update(run.id, change)
        if (task) {
          const by = { type: 'codehost' as const, id: connection.id, name: connection.repository }
          const metadata = { changes: { sourceState: { from: 'present', to: sourceState } } }
          const about = { taskId: task.id, projectId, metadata }
          await repos.activity.insert([entry(clock, at, 'task.updated', by, about)])
        }
        return { ...run, ...change }
      })
      return written !== undefined
    },

    /** The code host wants us to wait: the run is taken up again at that time, by whichever instance. */
    async putOff(retryAt: Date, isGuess: boolean, limits: HostLimits): Promise<void> {
      await whileHeld(async (repos, run) => {
        const change = {
          status: 'rate_limited' as const,
          retryAt,
          rateLimit: rateLimitOf(limits),
          leaseUntil: null,
          attempts: 0,
          limited: isGuess ? run.limited + 1 : 0,
        }
        await repos.syncRuns.update(run.id, change)
        return { ...run, ...change }
      })
    },

    /** Completed without an error, failed with one. */
    async end(error: RunError | null): Promise<undefined> {
      const told = error && { code: error.code, message: error.message }
      await whileHeld((repos, run) => endRun(repos, clock, run, told))
    },

    limitedBefore: () => run.limited,
  }

  async function whileHeld(
    work: (repos: BoundRepositories, run: SyncRunRow) => Promise<SyncRunRow | undefined>,
  ): Promise<SyncRunRow | undefined> {
    const after = await repos.within({ projectId: run.projectId }).transaction(async (repos) => {
      const held = await repos.syncRuns.findHeldForUpdate(run)
      return held && work(repos, held)
    })
    if (after) publish(after)
    return after
  }
}

const ARCHIVED: RunError = {
  code: 'project_archived',
  message: 'The project was archived. Unarchive it to sync again.',
}
