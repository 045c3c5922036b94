import type { RenderedTask } from '../../schemas/source-delivery.ts'
import type { NewTaskInBulk, TaskChange } from '../../schemas/task-requests.ts'
import { type ActorRef, newTask, type TaskOrigin } from '../new-task.ts'
import type { CreationPlace, StoredTask } from '../task.ts'

/** The source of a task, as its tasks and the activity log name it. */
export interface TaskSourceRef {
  id: string
  name: string
}

export const originOf = ({ id }: TaskSourceRef): TaskOrigin => ({ source: 'webhook', sourceId: id })

/** The actor in the activity log: a source has no API key. */
export const actorOfSource = ({ id, name }: TaskSourceRef): ActorRef => ({ type: 'system', id, name })

interface SourceCreation {
  id: string
  now: Date
  destination: CreationPlace
  source: TaskSourceRef
}

/** Builds the task of an item. */
export function newSourceTask(rendered: RenderedTask, { source, ...given }: SourceCreation): StoredTask {
  const task = newTask(contentOf(rendered), {
    ...given,
    actor: actorOfSource(source),
    origin: originOf(source),
  })
  return rendered.status === 'done' ? { ...task, status: 'done', completedAt: given.now } : task
}

/** What an item changes of a task that exists: what was rendered. Of a merged task, not its status. */
export function changeOfTask(
  task: Pick<StoredTask, 'status' | 'mergedInto'>,
  rendered: RenderedTask,
): TaskChange {
  const { externalId: _, ...content } = contentOf(rendered)
  const status = statusAfter(task.status, rendered)
  return { ...content, ...(task.mergedInto === null && status !== task.status && { status }) }
}

/** The status of a task after an item: only a done one is reopened. */
export function statusAfter(before: StoredTask['status'], { status }: RenderedTask): StoredTask['status'] {
  if (status === 'done') return 'done'
  return status === 'open' && before === 'done' ? 'open' : before
}

/** Whether an item reopens a task that is done: its own, or the one that this is merged into. */
export function isReopening(
  { status }: RenderedTask,
  { task, target }: Record<'task' | 'target', Pick<StoredTask, 'status'> | undefined>,
): boolean {
  return status === 'open' && (target ?? task)?.status === 'done'
}

const contentOf = ({ status: _, ...content }: RenderedTask): NewTaskInBulk => content
