import { byExternalId } from '../../domain/new-task.ts'
import type { ItemTask } from '../../domain/sources/reading.ts'
import {
  actorOfSource,
  changeOfTask,
  newSourceTask,
  originOf,
  type TaskSourceRef,
} from '../../domain/sources/tasks.ts'
import type { CreationPlace, StoredTask } from '../../domain/task.ts'
import { longTextsOf } from '../../domain/task-change.ts'
import { conflict } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ActivityRow } from '../../repositories/activity.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { SourceExternalId } from '../../repositories/sources/tasks.ts'
import type { RenderedTask } from '../../schemas/source-delivery.ts'
import { activityRow } from '../activity/row.ts'
import { existingTasksOf } from '../tasks/existing.ts'
import { mergedStatusWriter } from './merged.ts'

/** A task that an item of a delivery makes, or changes. */
export interface ItemWrite {
  source: TaskSourceRef
  destination: CreationPlace
  rendered: RenderedTask
  now: Date
}

export interface WrittenItem {
  taskId: string
  created: boolean
}

/** Why an item that is valid has no task. */
export type OmissionReason = 'project_archived' | 'never_opened'

/** A task of a delivery as it is stored: with the position of its item, which a replay finds it by. */
export interface StoredItem extends WrittenItem {
  item: number
}

/** Projects that are locked until the transaction ends, and whether they are open: not archived. */
export type LockedProjects = Map<string, boolean>

/**
 * Locks the projects of sources and of the tasks that have these external IDs, in the order in which projects are locked
 * everywhere.
 */
export async function lockProjects(
  { projects, sourceTasks }: BoundRepositories,
  { projectIds, items }: { projectIds: string[]; items: SourceExternalId[] },
): Promise<LockedProjects> {
  const ids = [...projectIds, ...(await sourceTasks.listProjectsOf(items))]
  const locked: LockedProjects = new Map()
  for (const id of [...new Set(ids)].sort()) {
    const project = await projects.findForShare(id)
    locked.set(id, project !== undefined && !project.archivedAt)
  }
  return locked
}

/** What the items of a source call their tasks. */
export const externalIdsIn = (sourceId: string, items: ItemTask[]): SourceExternalId[] =>
  items.flatMap(({ task: { externalId } }) => (externalId === undefined ? [] : { sourceId, externalId }))

/**
 * Writes the tasks of items: creates those that are new, and changes those whose external id is known. What is done when
 * it is first heard of makes none: a resolved alert that never fired, or an issue closed before the source existed.
 */
export function sourceTaskWriter({ clock }: { clock: Clock }) {
  const updateExisting = existingTasksOf({ clock })
  const writeMerged = mergedStatusWriter({ clock })

  /**
   * In a transaction that has locked the projects. In the order of the items.
   * @throws unavailable if a task has moved to a project that is not locked: then lock again
   */
  return async function write(
    repos: BoundRepositories,
    { items, projects }: { items: ItemWrite[]; projects: LockedProjects },
  ): Promise<(WrittenItem | OmissionReason)[]> {
    const rows = items.map(({ rendered, ...given }) =>
      newSourceTask(rendered, { ...given, id: clock.newId(given.now) }),
    )
    const itemOf = new Map(rows.map(({ id }, index) => [id, items[index] as ItemWrite]))
    const results = new Map<string, WrittenItem | OmissionReason>()
    // A task that exists may be deleted before it is locked; then its external id is free again.
    for (
      let left = rows.toSorted(byExternalId);
      left.length > 0;
      left = left.filter(({ id }) => !results.has(id))
    ) {
      const locked = await repos.sourceTasks.lock(left.filter(({ externalId }) => externalId !== null))
      const known = new Map(locked.map((task) => [nameOf(task), task]))
      const fresh = openedBy(left.filter((row) => !known.has(nameOf(row))))
      const made = await repos.sourceTasks.insert(fresh, fresh.flatMap(activitiesOf))
      for (const id of made) results.set(id, { taskId: id, created: true })
      const changed = left.filter((row) => {
        const task = known.get(nameOf(row))
        if (!task) return false
        const isOpen = projects.get(task.projectId)
        if (isOpen === undefined) throw conflict()
        if (!isOpen) results.set(row.id, 'project_archived')
        return isOpen
      })
      const lockedIds = new Set(locked.map(({ id }) => id))
      for (const group of Map.groupBy(changed, ({ sourceId }) => sourceId).values())
        await change(group, lockedIds)
    }
    // Cast: the loop ends when each has a result.
    return rows.map(({ id }) => results.get(id) as WrittenItem | OmissionReason)

    /** Without those that are done: the first one is omitted, and one after an open one of its name changes that. */
    function openedBy(unknown: StoredTask[]): StoredTask[] {
      const opened = unknown.filter(({ externalId, status }) => externalId === null || status !== 'done')
      const firsts = new Map(unknown.toReversed().map((row) => [nameOf(row), row]))
      for (const { id, externalId, status } of firsts.values())
        if (externalId !== null && status === 'done') results.set(id, 'never_opened')
      return opened
    }

    function activitiesOf({ id, projectId, status }: StoredTask): ActivityRow[] {
      const { source, now } = itemOf.get(id) as ItemWrite
      const about = { now, actor: actorOfSource(source), taskId: id, projectId }
      const created = activityRow(clock, { ...about, type: 'task.created' })
      if (status !== 'done') return [created]
      return [created, activityRow(clock, { ...about, type: 'task.completed', metadata: { from: 'open' } })]
    }

    async function change(group: StoredTask[], lockedIds: Set<string>): Promise<void> {
      const { source, destination, now } = itemOf.get(group[0]?.id ?? '') as ItemWrite
      const renderedOf = (id: string) => (itemOf.get(id) as ItemWrite).rendered
      const changes = group.map(({ id, externalId }) => ({
        id,
        externalId,
        changeOf: (task: StoredTask) => changeOfTask(task, renderedOf(id)),
        texts: longTextsOf(renderedOf(id)),
      }))
      const actor = actorOfSource(source)
      const updated = await updateExisting(repos, { destination, actor, origin: originOf(source), changes })
      for (const { row, requestIds } of updated) {
        if (row.mergedInto !== null && !lockedIds.has(row.mergedInto)) throw conflict()
        await writeMerged(repos, { source, now, report: row, rendered: requestIds.map(renderedOf) })
        for (const id of requestIds) results.set(id, { taskId: row.id, created: false })
      }
    }
  }
}

/** What tells the tasks of sources apart; those without an external ID have their own id. */
const nameOf = ({ id, sourceId, externalId }: { id: string } & SourceExternalId) =>
  externalId === null ? id : `${sourceId} ${externalId}`
