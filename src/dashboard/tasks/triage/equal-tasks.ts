import type { TaskListItem } from '../../api/queries.ts'
import { equalKey, type TaskGroups } from '../list/grouping.ts'
import { byReports } from '../reports/merging.ts'

/** One row for feedback of a project with the same note, at the place of its first task: the best one to merge into. */
export function equalTasks(tasks: TaskListItem[]): TaskGroups {
  const groups = Map.groupBy(tasks, (task) => equalKey(task) ?? task.id)
  const sorted = [...groups.values()].map((group) => group.toSorted(byReports))
  const byMember = new Map(sorted.flatMap((group) => group.map(({ id }) => [id, group])))
  return {
    rows: sorted.flatMap(([row]) => row ?? []),
    tasksOf: (row) => byMember.get(row.id) ?? [row],
    rowIdOf: (id) => byMember.get(id)?.[0]?.id ?? id,
  }
}
