import type { TaskListItem } from '../../api/queries.ts'
import { equalKey, type TaskGroups } from '../list/grouping.ts'
import { byReports } from '../reports/merging.ts'

let latest: { tasks: TaskListItem[]; groups: TaskGroups } | undefined

/**
 * One row for feedback of a project with the same note, at the place of its first task: the best one to merge into. The
 * list and the open task ask for the same groups, which are made once.
 */
export function equalTasks(tasks: TaskListItem[]): TaskGroups {
  if (!latest || !areSame(latest.tasks, tasks)) latest = { tasks, groups: groupsOf(tasks) }
  return latest.groups
}

const areSame = (one: TaskListItem[], other: TaskListItem[]) =>
  one.length === other.length && one.every((task, index) => task === other[index])

function groupsOf(tasks: TaskListItem[]): TaskGroups {
  const groups = Map.groupBy(tasks, (task) => equalKey(task) ?? task.id)
  const sorted = [...groups.values()].map((group) => group.toSorted(byReports))
  const byMember = new Map(sorted.flatMap((group) => group.map(({ id }) => [id, group])))
  return {
    rows: sorted.flatMap(([row]) => row ?? []),
    tasksOf: (row) => byMember.get(row.id) ?? [row],
    rowIdOf: (id) => byMember.get(id)?.[0]?.id ?? id,
  }
}
