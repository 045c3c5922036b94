import { ANALYTICS } from '../../domain/feedback/task.ts'
import { mergedColumns } from '../../domain/merging.ts'
import type { StoredTask } from '../../domain/task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewReports, NoteOfProject } from '../../repositories/feedback/groups.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import { activityRow } from '../activity/row.ts'
import type { Accepted } from './delivery.ts'

/** Whether an event may become a report of a task with the same note. */
export const isGroupable = ({ arrival, route }: Accepted): boolean =>
  route.decision.project.groupFeedback === 'auto' && arrival.event.task.noteKey !== null

/**
 * Decides which new tasks become reports, and of which tasks: the oldest open one with the same note, or the first of these
 * events. Locks the notes until the transaction ends, so that of equal events that arrive at the same time, on any
 * instance, only one becomes a task of its own.
 */
export async function targetsOf(
  { deliveries, feedbackGroups }: BoundRepositories,
  accepted: Accepted[],
): Promise<Map<string, string>> {
  const candidates = accepted.filter(isGroupable)
  if (candidates.length === 0) return new Map()
  const notes = distinct(candidates.map(noteOf))
  await feedbackGroups.lock(notes)
  const oldest = await feedbackGroups.listOldestOpen(notes)
  const targets = new Map(oldest.map((found) => [nameOf(found), found.taskId]))
  const known = await deliveries.listByKeys(candidates.map(({ arrival }) => arrival.event.dedupKey))
  // A repeat creates no task. Of two in a batch, the first one does.
  const seen = new Set(known.map(({ dedupKey }) => dedupKey))
  const merged = new Map<string, string>()
  for (const candidate of candidates) {
    const { row, taskId } = candidate
    if (seen.has(row.dedupKey)) continue
    seen.add(row.dedupKey)
    const name = nameOf(noteOf(candidate))
    const target = targets.get(name)
    if (target) merged.set(taskId, target)
    else targets.set(name, taskId)
  }
  return merged
}

/** The task of an event, as a report if it has a target. */
export const asReport = (task: StoredTask, into: string | undefined): StoredTask =>
  into === undefined ? task : { ...task, ...mergedColumns(task, { into, now: task.createdAt }) }

/**
 * Counts new reports at their targets, with activity on both. The targets are only locked now, after the deliveries, as
 * everywhere. Returns false if one was closed, merged, moved or deleted meanwhile.
 */
export async function countNewReports(
  repos: BoundRepositories,
  { clock, reports }: { clock: Pick<Clock, 'newId'>; reports: { task: StoredTask; into: string }[] },
): Promise<boolean> {
  if (reports.length === 0) return true
  const added = new Map<string, NewReports>()
  for (const { task, into } of reports) {
    const count = (added.get(into)?.count ?? 0) + 1
    added.set(into, { into, projectId: task.projectId, count })
  }
  const targets = await repos.feedbackGroups.addReports([...added.values()])
  if (targets.length < added.size) return false
  const counts = new Map(
    targets.map(({ id, reportCount }) => [id, reportCount - (added.get(id)?.count ?? 0)]),
  )
  await repos.activity.insert(
    reports.flatMap(({ task, into }) => {
      const reportCount = (counts.get(into) ?? 0) + 1
      counts.set(into, reportCount)
      const { id, projectId, createdAt: now } = task
      const about = { now, actor: ANALYTICS, projectId }
      const merged = { taskId: id, metadata: { into, from: 'open' } }
      const counted = { taskId: into, metadata: { reportId: id, reports: reportCount + 1 } }
      return [
        activityRow(clock, { ...about, type: 'task.merged', ...merged }),
        activityRow(clock, { ...about, type: 'task.report_added', ...counted }),
      ]
    }),
  )
  return true
}

const noteOf = ({ arrival, route }: Accepted): NoteOfProject => ({
  projectId: route.decision.project.id,
  noteKey: arrival.event.task.noteKey ?? '',
})

const nameOf = ({ projectId, noteKey }: NoteOfProject) => `${projectId} ${noteKey}`

const distinct = (notes: NoteOfProject[]): NoteOfProject[] => [
  ...new Map(notes.map((note) => [nameOf(note), note])).values(),
]
