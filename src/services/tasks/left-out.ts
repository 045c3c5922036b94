import type { BoundedTaskRow } from '../../repositories/bounded-tasks.ts'
import type { BoundRepositories } from '../../repositories/index.ts'

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
