import { decodeCursor, encodeCursor, MAX_PAGE_BYTES, type PageOrder } from '../domain/cursor.ts'

export interface Page<T> {
  data: T[]
  nextCursor: string | null
}

/** A page as JSON. */
export interface PageJson {
  /** One after another: the items, separated by commas. */
  items: Buffer[]
  nextCursor: string | null
  /** Further members of the response. */
  more?: object | undefined
}

/** The items of a page as values. Cast: the caller knows the type that its query returns. */
export const itemsOf = <T>({ items }: Pick<PageJson, 'items'>): T[] =>
  JSON.parse(`[${Buffer.concat(items)}]`) as T[]

/** How many items `readAll` reads at a time. */
const MAX_AT_ONCE = 200

/** Reads a whole list, in the order of its ids: for operators, who have no pages. */
export async function readAll<T extends { id: string }>(
  read: (page: { after: string | undefined; limit: number }) => Promise<T[]>,
): Promise<T[]> {
  const all: T[] = []
  for (;;) {
    const items = await read({ after: all.at(-1)?.id, limit: MAX_AT_ONCE })
    for (const item of items) all.push(item)
    if (items.length < MAX_AT_ONCE) return all
  }
}

interface PageSource<T, Start> {
  order: PageOrder<NoInfer<T>, Start>
  request: { limit?: number | undefined; cursor?: string | undefined }
  /** How many items are read at a time, where they can be large; the whole page unless given. */
  maxAtOnce?: number
  /** Reads at most `limit` items from `start`, or from the beginning. */
  read(start: Start | undefined, limit: number): Promise<T[]>
}

/**
 * Reads a page of a list, which ends with the item that brings it to `MAX_PAGE_BYTES`.
 * @throws invalid_cursor for a cursor of another list or sort.
 */
export async function readPage<T, Start>({
  order,
  request: { limit = 50, cursor },
  maxAtOnce = limit,
  read,
}: PageSource<T, Start>): Promise<Page<T>> {
  let start =
    cursor === undefined
      ? undefined
      : order.startOf(decodeCursor(cursor, { sort: order.name, isKey: order.isKey, isId: order.isId }))
  const data: T[] = []
  for (let bytes = 0; ; ) {
    const count = Math.min(limit - data.length, maxAtOnce)
    // One item more than requested tells whether there are more.
    const items = await read(start, count + 1)
    let taken = 0
    for (const item of items.slice(0, count)) {
      data.push(item)
      taken++
      bytes += Buffer.byteLength(JSON.stringify(item))
      if (bytes >= MAX_PAGE_BYTES) break
    }
    const last = data.at(-1)
    if (last === undefined || items.length === taken) return { data, nextCursor: null }
    const next = order.cursorOf(last)
    if (data.length === limit || bytes >= MAX_PAGE_BYTES)
      return { data, nextCursor: encodeCursor(order.name, next) }
    start = order.startOf(next)
  }
}
