import type { BoundRepositories } from '../../repositories/index.ts'
import type { Activity } from '../../schemas/activity.ts'
import type { ChangeItem } from './changes.ts'

/** Tasks requested at once; how many are read depends on their size. */
const READ_BATCH = 20
/** Characters of the tasks and of the page, which ends above it. */
const MAX_LENGTH = 2 * 1024 * 1024

/**
 * Adds to each change its task as it is now, or null if there is none that the caller can read. Returns as many changes as
 * fit, at least the first: a task may have 150 KB, and all changes of a page may be of one task.
 */
export async function itemsWithTasks(
  repos: Pick<BoundRepositories, 'tasks'>,
  items: ChangeItem[],
): Promise<ChangeItem[]> {
  const taskIds = items.map(taskIdOf)
  const { found, unread } = await readTasks(
    repos,
    [...new Set(taskIds)].filter((id) => id !== null),
  )
  const whole: ChangeItem[] = []
  let length = 0
  for (const [index, { position, json }] of items.entries()) {
    const id = taskIds[index] ?? null
    if (id !== null && unread.has(id)) break
    const task = (id !== null && found.get(id)) || 'null'
    length += json.length + task.length
    if (length > MAX_LENGTH && whole.length > 0) break
    whole.push({ position, json: `${json.slice(0, -1)},"task":${task}}` })
  }
  return whole
}

async function readTasks({ tasks }: Pick<BoundRepositories, 'tasks'>, ids: string[]) {
  const found = new Map<string, string>()
  let length = 0
  let left = ids
  while (left.length > 0 && length < MAX_LENGTH) {
    const some = left.slice(0, READ_BATCH)
    const { items, next } = await tasks.listPortion(some)
    for (const [id, json] of items) {
      found.set(id, json)
      length += json.length
    }
    left = left.slice(next === null ? some.length : next - 1)
  }
  return { found, unread: new Set(left) }
}

/** Cast: it is the JSON of an activity. */
const taskIdOf = ({ json }: ChangeItem): string | null => (JSON.parse(json) as Activity).taskId
