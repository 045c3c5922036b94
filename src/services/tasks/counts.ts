import type { Repositories } from '../../repositories/index.ts'

/** Pending changes aggregated at once: about a tenth of a second. */
const AGGREGATE_BATCH = 10_000

/** The counts of open tasks, labels, and assignees. */
export function taskCountsService({ repos: { taskCounts } }: { repos: Pick<Repositories, 'taskCounts'> }) {
  return {
    /** Adds pending changes to the counts; returns whether there are more. Called by the worker every few seconds. */
    aggregate: async (): Promise<boolean> =>
      (await taskCounts.aggregate(AGGREGATE_BATCH)) === AGGREGATE_BATCH,
  }
}
