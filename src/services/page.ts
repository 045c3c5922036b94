import { decodeCursor, encodeCursor, type PageOrder } from '../domain/cursor.ts'

/** A page with its first items in memory. */
export interface Page<T> {
  data: T[]
  nextCursor: string | null
  /** The remaining items of the page, read on demand; its return value is the cursor. */
  rest?: AsyncGenerator<T[], string | null>
}

/** A page as JSON text: its items, separated by commas. */
export interface PageJson {
  items: string
  nextCursor: string | null
  /** Further members of the response. */
  more?: object | undefined
  /** The items of a page that is too large for memory, in portions, read on demand; `items` is empty then. */
  rest?: AsyncGenerator<string>
}

/** All items of a page as values. Cast: the caller knows the type that its query returns. */
export async function parsedItems<T>({ items, rest }: PageJson): Promise<T[]> {
  const parsed = itemsOf<T>(items)
  for await (const portion of rest ?? []) parsed.push(...itemsOf<T>(portion))
  return parsed
}

export const itemsOf = <T>(items: string): T[] => JSON.parse(`[${items}]`) as T[]

interface PageSource<T, Start> {
  order: PageOrder<NoInfer<T>, Start>
  request: { limit?: number | undefined; cursor?: string | undefined }
  /** How many items are in memory at a time; the whole page unless given. */
  maxAtOnce?: number
  /** Reads at most `limit` items from `start`, or from the beginning. */
  read(start: Start | undefined, limit: number): Promise<T[]>
}

/**
 * Reads a page of a list.
 * @throws invalid_cursor for a cursor of another list or sort.
 */
export async function readPage<T, Start>({
  order,
  request: { limit = 50, cursor },
  maxAtOnce = limit,
  read,
}: PageSource<T, Start>): Promise<Page<T>> {
  const start =
    cursor === undefined
      ? undefined
      : order.startOf(decodeCursor(cursor, { sort: order.name, isKey: order.isKey, isId: order.isId }))
  const first = await readPart(start, Math.min(limit, maxAtOnce))
  if (limit <= maxAtOnce || first.nextCursor === null) return first
  return { ...first, rest: rest(first.data.at(-1)) }

  async function* rest(previous: T | undefined): AsyncGenerator<T[], string | null> {
    for (let left = limit - maxAtOnce, last = previous; ; ) {
      const { data, nextCursor } = await readPart(last && startAfter(last), Math.min(left, maxAtOnce))
      yield data
      left -= data.length
      if (nextCursor === null || left === 0) return nextCursor
      last = data.at(-1)
    }
  }

  /** One item more than requested tells whether there is a next page. */
  async function readPart(start: Start | undefined, count: number) {
    const items = await read(start, count + 1)
    const data = items.slice(0, count)
    const last = data.at(-1)
    const nextCursor = last && items.length > count ? encodeCursor(order.name, order.cursorOf(last)) : null
    return { data, nextCursor }
  }

  function startAfter(last: T): Start {
    return order.startOf(order.cursorOf(last))
  }
}
