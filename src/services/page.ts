import { decodeCursor, encodeCursor, isNoKey, isPositionKey } from '../domain/cursor.ts'

interface PageRequest {
  limit?: number
  cursor?: string
}

/**
 * A page of a list that is ordered by id alone.
 * @param name whose cursor it is: a cursor of another list is refused.
 * @param read answers at most so many entries after that id.
 */
export async function pageOf<T extends { id: string }>(
  name: string,
  { limit = 50, cursor }: PageRequest,
  read: (after: string | undefined, limit: number) => Promise<T[]>,
): Promise<{ data: T[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, name, isNoKey).id
  return cut(await read(after, limit + 1), limit, ({ id }) => encodeCursor(name, { key: null, id }))
}

/** The same of a list that people have put in order. */
export async function pageByPosition<T extends { id: string; position: number }>(
  name: string,
  { limit = 50, cursor }: PageRequest,
  read: (after: { position: number; id: string } | undefined, limit: number) => Promise<T[]>,
): Promise<{ data: T[]; nextCursor: string | null }> {
  const from = cursor === undefined ? undefined : decodeCursor(cursor, name, isPositionKey)
  const after = from && { position: Number(from.key), id: from.id }
  return cut(await read(after, limit + 1), limit, ({ id, position }) =>
    encodeCursor(name, { key: position, id }),
  )
}

/** One more than was asked for says that there is a next page. */
function cut<T>(rows: T[], limit: number, cursorAt: (last: T) => string) {
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return { data, nextCursor: last && rows.length > limit ? cursorAt(last) : null }
}
