import type { Operations } from '../../domain/operation.ts'
import { lastWeeks, quantilesOf } from '../../domain/overview.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import {
  Closer,
  type FeedbackOverview,
  MAX_PROBLEMS,
  MAX_VERSIONS,
  type Overview,
  type OverviewQuery,
} from '../../schemas/overview.ts'
import { TaskSource } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { requirePlace } from '../place.ts'
import type { OverviewCounting } from './counting.ts'

export const overviewOperations = {
  read: { scope: 'tasks:read' },
  readFeedback: { scope: 'tasks:read' },
} satisfies Operations<ReturnType<typeof overviewService>>

interface OverviewDeps {
  repos: Pick<Repositories, 'within'>
  clock: Pick<Clock, 'now'>
  counting: Pick<OverviewCounting, 'fill'>
}

/** What was opened and closed in the last weeks, and what waits. */
export function overviewService({ repos, clock, counting }: OverviewDeps) {
  return {
    /**
     * As of a few seconds ago.
     * @throws project_not_found; unavailable while tasks from before are counted
     */
    async read(caller: Caller, query: OverviewQuery): Promise<Overview> {
      const { overview, weeks, range } = await prepare(caller, query)
      const { opened, closed, days, ...waiting } = await overview.read(range)
      const openedIn = Object.groupBy(opened, ({ week }) => week)
      const closedIn = Object.groupBy(closed, ({ week }) => week)
      return {
        weeks: weeks.map((week) => ({
          start: startOf(week),
          opened: countsOf(TaskSource, { rows: openedIn[week], nameOf: ({ source }) => source }),
          closed: countsOf(Closer, { rows: closedIn[week], nameOf: ({ closer }) => closer }),
        })),
        ...waiting,
        daysToDone: quantilesOf(days, { median: 0.5, p90: 0.9 }) ?? null,
      }
    },

    /**
     * As of a few seconds ago.
     * @throws project_not_found; unavailable while tasks from before are counted
     */
    async readFeedback(caller: Caller, query: OverviewQuery): Promise<FeedbackOverview> {
      const { overview, weeks, range } = await prepare(caller, query)
      const limits = { maxVersions: MAX_VERSIONS, maxProblems: MAX_PROBLEMS }
      const { versions, problems } = await overview.readFeedback({ ...range, ...limits })
      return {
        versions: versions.map(({ week, ...version }) => ({ ...version, week: startOf(week) })),
        weeks: weeks.map(startOf),
        problems: problems.map((problem) => ({
          ...problem,
          weeks: weeks.map((week) => problem.weeks[week] ?? 0),
        })),
      }
    },
  }

  async function prepare(caller: Caller, { projectId, weeks: count = 12 }: OverviewQuery) {
    const bound = repos.within(caller)
    await requirePlace(bound, { projectId })
    await counting.fill()
    const weeks = lastWeeks(clock.now(), count)
    const range = { projectId, from: weeks.at(0) ?? '', to: weeks.at(-1) ?? '' }
    return { overview: bound.overview, weeks, range }
  }
}

const startOf = (week: string) => `${week}T00:00:00.000Z`

/** The count of each name, or 0. */
function countsOf<Name extends string, Row extends { count: number }>(
  names: readonly Name[],
  { rows = [], nameOf }: { rows: Row[] | undefined; nameOf: (row: Row) => string },
): Record<Name, number> {
  const counts = new Map(rows.map((row) => [nameOf(row), row.count]))
  return Object.fromEntries(names.map((name) => [name, counts.get(name) ?? 0])) as Record<Name, number>
}
