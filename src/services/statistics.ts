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

  return {
    /** Analyzes the table that has grown most; returns whether there may be others. On one instance at a time. */
    async refresh(): Promise<boolean> {
      if (clock.now().getTime() < notBefore) return false
      if ((await repos.statistics.findOutdated()) === undefined) return false
      return repos
        .transaction(async ({ statistics }) => {
          if (!(await statistics.claimAnalyzing())) return false
          // Again: another instance may have analyzed it.
          const table = await statistics.findOutdated()
          if (table === undefined) return false
          await statistics.analyze(table)
          return (await statistics.findOutdated()) !== table
        })
        .catch((error) => {
          notBefore = clock.now().getTime() + RETRY_MS
          throw error
        })
    },
  }
}
