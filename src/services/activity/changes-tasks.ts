import { MAX_PAGE_BYTES } from '../../domain/cursor.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { Activity } from '../../schemas/activity.ts'
import type { ChangeItem } from './changes.ts'

/**
 * Adds to each change its task as it is now, or null if there is none that the caller can read. Returns as many changes as
 * a page has room for, at least the first: a task may have 150 KB, and all changes of a page may be of one task.
 */
export async function itemsWithTasks(
  { tasks }: Pick<BoundRepositories, 'tasks'>,
  items: ChangeItem[],
): Promise<ChangeItem[]> {
  const taskIds = items.map(taskIdOf)
  const { items: found, unread } = await tasks.listJson([...new Set(taskIds)].filter((id) => id !== null))
  const whole: ChangeItem[] = []
  let bytes = 0
  for (const [index, { position, json }] of items.entries()) {
    const id = taskIds[index] ?? null
    if (bytes >= MAX_PAGE_BYTES || (id !== null && unread.has(id))) break
    const task = (id !== null && found.get(id)) || 'null'
    const item = `${json.slice(0, -1)},"task":${task}}`
    whole.push({ position, json: item })
    bytes += Buffer.byteLength(item)
  }
  return whole
}

/** Cast: it is the JSON of an activity. */
const taskIdOf = ({ json }: ChangeItem): string | null => (JSON.parse(json) as Activity).taskId
