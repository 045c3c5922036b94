import { decodeCursor, encodeCursor, isNoKey } from '../domain/cursor.ts'

/**
 * A page of a list that is ordered by id alone.
 * @param name whose cursor it is: a cursor of another list is refused.
 * @param read answers at most so many entries after that id.
 */
export async function pageOf<T extends { id: string }>(
  name: string,
  { limit = 50, cursor }: { limit?: number; cursor?: string },
  read: (after: string | undefined, limit: number) => Promise<T[]>,
): Promise<{ data: T[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, name, isNoKey).id
  const rows = await read(after, limit + 1)
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  return {
    data,
    nextCursor: last && rows.length > limit ? encodeCursor(name, { key: null, id: last.id }) : null,
  }
}
