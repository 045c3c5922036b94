import { encodeCursor } from '../../domain/cursor.ts'
import type { BoundedTaskRow } from '../../repositories/bounded-tasks.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { PortionOptions } from '../../repositories/task-pages.ts'
import type { TaskPageJson } from '../../repositories/task-pages-json.ts'
import type { PageJson } from '../page.ts'

/** Maximum number of left-out tasks requested at once; how many are read depends on their size. */
const READ_BATCH = 20

/** Rows of locked tasks whose long fields were left out, with these, a few at a time. */
export async function* wholeRows(
  { tasks }: Pick<BoundRepositories, 'tasks'>,
  leftOut: BoundedTaskRow[],
): AsyncGenerator<BoundedTaskRow[]> {
  for (let ids = leftOut.map(({ id }) => id); ids.length > 0; ) {
    const rows = await tasks.listByIds(ids.slice(0, READ_BATCH))
    const whole = rows.filter(({ isLeftOut }) => !isLeftOut)
    yield whole
    ids = ids.filter((id) => !whole.some((row) => row.id === id))
  }
}

interface PageOptions extends PortionOptions {
  /** The sort that its cursor is for. */
  sort: string
  more?: object | undefined
}

/** A page of tasks as the interface sends it: its items are read in portions if they are too large together. */
export function pageOf(
  { tasks }: Pick<BoundRepositories, 'tasks'>,
  { items, ids, last, sort, more, ...options }: TaskPageJson & PageOptions,
): PageJson {
  const nextCursor = last && encodeCursor(sort, last)
  if (items !== null) return { items, nextCursor, more }
  return { items: '', nextCursor, more, rest: portionsOf({ tasks }, { ids, ...options }) }
}

/** Reads tasks that are too large together, as they are now; without tasks deleted or restored since. */
async function* portionsOf(
  { tasks }: Pick<BoundRepositories, 'tasks'>,
  { ids, ...options }: { ids: string[] } & PortionOptions,
): AsyncGenerator<string> {
  for (let left = ids; left.length > 0; ) {
    const some = left.slice(0, READ_BATCH)
    const { items, next } = await tasks.listPortion(some, options)
    if (items.size > 0) yield [...items.values()].join(',')
    left = left.slice(next === null ? some.length : next - 1)
  }
}
