import type { Operations } from '../../domain/operation.ts'
import { lastWeeks, quantilesOf } from '../../domain/overview.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Repositories } from '../../repositories/index.ts'
import { Closer, type Overview, type OverviewQuery } from '../../schemas/overview.ts'
import { TaskSource } from '../../schemas/task.ts'
import type { Caller } from '../access.ts'
import { requirePlace } from '../place.ts'
import type { OverviewCounting } from './counting.ts'

export const overviewOperations = {
  read: { scope: 'tasks:read' },
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
    async read(caller: Caller, { projectId, weeks: count = 12 }: OverviewQuery): Promise<Overview> {
      const bound = repos.within(caller)
      await requirePlace(bound, { projectId })
      await counting.fill()
      const weeks = lastWeeks(clock.now(), count)
      const range = { from: weeks.at(0) ?? '', to: weeks.at(-1) ?? '' }
      const { opened, closed, days, ...waiting } = await bound.overview.read({ projectId, ...range })
      const openedIn = Object.groupBy(opened, ({ week }) => week)
      const closedIn = Object.groupBy(closed, ({ week }) => week)
      return {
        weeks: weeks.map((week) => ({
          start: `${week}T00:00:00.000Z`,
          opened: countsOf(TaskSource, { rows: openedIn[week], nameOf: ({ source }) => source }),
          closed: countsOf(Closer, { rows: closedIn[week], nameOf: ({ closer }) => closer }),
        })),
        ...waiting,
        daysToDone: quantilesOf(days, { median: 0.5, p90: 0.9 }) ?? null,
      }
    },
  }
}

/** The count of each name, or 0. */
function countsOf<Name extends string, Row extends { count: number }>(
  names: readonly Name[],
  { rows = [], nameOf }: { rows: Row[] | undefined; nameOf: (row: Row) => string },
): Record<Name, number> {
  const counts = new Map(rows.map((row) => [nameOf(row), row.count]))
  return Object.fromEntries(names.map((name) => [name, counts.get(name) ?? 0])) as Record<Name, number>
}
