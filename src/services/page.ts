import { decodeCursor, encodeCursor, isNoKey, isPositionKey } from '../domain/cursor.ts'

interface PageRequest {
  limit?: number
  cursor?: string
}

/** A page of which the first items are in memory. */
export interface Page<T> {
  data: T[]
  nextCursor: string | null
  /** The items after those, where there are more of this page: read when asked for; what it returns is the cursor. */
  rest?: AsyncGenerator<T[], string | null>
}

/**
 * A page of a list that is ordered by id alone.
 * @param name whose cursor it is: a cursor of another list is refused.
 * @param read answers at most so many entries after that id.
 * @param maxAtOnce so many are in memory at a time.
 */
export async function pageOf<T extends { id: string }>(
  name: string,
  { limit = 50, cursor }: PageRequest,
  read: (after: string | undefined, limit: number) => Promise<T[]>,
  maxAtOnce = limit,
): Promise<Page<T>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, name, isNoKey).id
  const cursorAt = ({ id }: T) => encodeCursor(name, { key: null, id })
  const first = pageFrom(
    await read(after, Math.min(limit, maxAtOnce) + 1),
    Math.min(limit, maxAtOnce),
    cursorAt,
  )
  if (limit <= maxAtOnce || first.nextCursor === null) return first
  return { ...first, rest: rest(first.data.at(-1)?.id) }

  async function* rest(from: string | undefined): AsyncGenerator<T[], string | null> {
    for (let left = limit - maxAtOnce, last = from; ; ) {
      const count = Math.min(left, maxAtOnce)
      const { data, nextCursor } = pageFrom(await read(last, count + 1), count, cursorAt)
      yield data
      left -= data.length
      if (nextCursor === null || left === 0) return nextCursor
      last = data.at(-1)?.id
    }
  }
}

/** The same of a list that people have put in order. */
export async function pageByPosition<T extends { id: string; position: number }>(
  name: string,
  { limit = 50, cursor }: PageRequest,
  read: (after: { position: number; id: string } | undefined, limit: number) => Promise<T[]>,
): Promise<{ data: T[]; nextCursor: string | null }> {
  const from = cursor === undefined ? undefined : decodeCursor(cursor, name, isPositionKey)
  const after = from && { position: Number(from.key), id: from.id }
  return pageFrom(await read(after, limit + 1), limit, ({ id, position }) =>
    encodeCursor(name, { key: position, id }),
  )
}

/** One more than was asked for says that there is a next page. */
function pageFrom<T>(rows: T[], limit: number, cursorAt: (last: T) => string) {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return { data, nextCursor: last && rows.length > limit ? cursorAt(last) : null }
}
