import type { Repositories } from '../repositories/index.ts'

/** A table that cannot be analyzed within the time of a statement is left to autovacuum for so long. */
const RETRY_MS = 600_000

/** Keeps PostgreSQL's planner informed of tables that a burst, a first sync, or a restore has filled. */
export function statisticsService({
  repos,
  clock,
}: {
  repos: Pick<Repositories, 'statistics' | 'transaction'>
  clock: { now(): Date }
}) {
  let notBefore = 0
  let last: string | undefined

  return {
    /** Analyzes the table that has grown most; returns whether there may be others. On one instance at a time. */
    async refresh(): Promise<boolean> {
      if (clock.now().getTime() < notBefore) return false
      const table = await repos.statistics.findOutdated()
      // Still the same after an analysis: autovacuum works on it.
      const isDone = table === undefined || table === last
      last = undefined
      if (isDone) return false
      return repos
        .transaction(async ({ statistics }) => {
          if (!(await statistics.claimAnalyzing())) return false
          // Again: another instance may have analyzed it.
          if ((await statistics.findOutdated()) === table) await statistics.analyze(table)
          last = table
          return true
        })
        .catch((error) => {
          notBefore = clock.now().getTime() + RETRY_MS
          throw error
        })
    },
  }
}
