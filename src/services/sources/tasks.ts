import type { ItemTask } from '../../domain/sources/reading.ts'
import {
  actorOfSource,
  changeOfTask,
  newSourceTask,
  originOf,
  type TaskSourceRef,
} from '../../domain/sources/tasks.ts'
import type { Destination, StoredTask } from '../../domain/task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ActivityRow } from '../../repositories/activity.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { RenderedTask } from '../../schemas/source-delivery.ts'
import { activityRow } from '../activity/row.ts'
import { byExternalId } from '../tasks/creation.ts'
import { existingTasksOf } from '../tasks/existing.ts'

/** A task that an item of a delivery makes, or changes. */
export interface ItemWrite {
  source: TaskSourceRef
  destination: Destination
  rendered: RenderedTask
  now: Date
}

export interface WrittenItem {
  taskId: string
  created: boolean
}

/** A task of a delivery as the inbox stores it: with the position of its item, which a replay finds it by. */
export interface StoredItem extends WrittenItem {
  item: number
}

/** What the inbox stores of the tasks that items made. */
export const storedItems = (items: ItemTask[], written: WrittenItem[]): StoredItem[] =>
  written.map((task, at) => ({ ...task, item: items[at]?.index ?? at }))

/** Writes the tasks of items: creates those that are new, and changes those whose external id is known. */
export function sourceTaskWriter({ clock }: { clock: Clock }) {
  const updateExisting = existingTasksOf({ clock })

  /** In a transaction that has locked the projects. In the order of the items. */
  return async function write(repos: BoundRepositories, items: ItemWrite[]): Promise<WrittenItem[]> {
    const rows = items.map(({ rendered, ...given }) =>
      newSourceTask(rendered, { ...given, id: clock.newId(given.now) }),
    )
    const itemOf = new Map(rows.map(({ id }, index) => [id, items[index] as ItemWrite]))
    const results = new Map<string, WrittenItem>()
    // A task that exists may be deleted before it is locked; then its external id is free again.
    for (
      let left = rows.toSorted(byExternalId);
      left.length > 0;
      left = left.filter(({ id }) => !results.has(id))
    ) {
      const made = await repos.sourceEvents.insertTasks(left, left.flatMap(activitiesOf))
      for (const id of made) results.set(id, { taskId: id, created: true })
      const known = left.filter(({ id }) => !made.has(id))
      const groups = Map.groupBy(known, ({ sourceId, projectId }) => `${sourceId} ${projectId}`)
      for (const group of groups.values()) await change(group)
    }
    return rows.map(({ id }) => results.get(id) as WrittenItem)

    function activitiesOf({ id, projectId, status }: StoredTask): ActivityRow[] {
      const { source, now } = itemOf.get(id) as ItemWrite
      const about = { now, actor: actorOfSource(source), taskId: id, projectId }
      const created = activityRow(clock, { ...about, type: 'task.created' })
      if (status !== 'done') return [created]
      return [created, activityRow(clock, { ...about, type: 'task.completed', metadata: { from: 'open' } })]
    }

    async function change(group: StoredTask[]): Promise<void> {
      const { source, destination } = itemOf.get(group[0]?.id ?? '') as ItemWrite
      const changes = group.map(({ id, externalId }) => ({
        id,
        externalId,
        changeOf: (task: StoredTask) => changeOfTask(task, (itemOf.get(id) as ItemWrite).rendered),
      }))
      const actor = actorOfSource(source)
      const updated = await updateExisting(repos, { destination, actor, origin: originOf(source), changes })
      for (const { row, requestIds } of updated)
        for (const id of requestIds) results.set(id, { taskId: row.id, created: false })
    }
  }
}
