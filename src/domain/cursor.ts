import { invalidCursor } from '../errors/index.ts'
import { isDateTime, isUuid } from '../schemas/formats.ts'

/** A page of any list ends with the item that brings it to this size, so that no response needs more memory. */
export const MAX_PAGE_BYTES = 1024 * 1024

/** A position in a page: the value of the sort (none where ids alone are the order) and the id. */
export interface PageCursor {
  key: string | number | null
  id: string
}

/** The order of a list, and the content of its cursors. */
export interface PageOrder<Item, Start> {
  /** The list and sort that a cursor belongs to; cursors of another are rejected. */
  name: string
  isKey(key: unknown): boolean
  /** A UUID unless given. */
  isId?(id: unknown): boolean
  cursorOf(item: Item): PageCursor
  /** Where the page after a cursor starts, as the query takes it. */
  startOf(cursor: PageCursor): Start
}

/** A list ordered by id alone. */
export const orderById = (name: string): PageOrder<{ id: string }, string> => ({
  name,
  isKey: (key) => key === null,
  cursorOf: ({ id }) => ({ key: null, id }),
  startOf: ({ id }) => id,
})

interface Positioned {
  id: string
  position: number
}

/** A list in an order that users have chosen. */
export const orderByPosition = (name: string): PageOrder<Positioned, Positioned> => ({
  name,
  isKey: isPositionKey,
  cursorOf: ({ id, position }) => ({ key: position, id }),
  startOf: ({ key, id }) => ({ position: Number(key), id }),
})

export function encodeCursor(sort: string, { key, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([sort, key, id])).toString('base64url')
}

/**
 * Decodes a cursor that `encodeCursor` created for this sort.
 * @throws invalid_cursor for anything else.
 */
export function decodeCursor(
  cursor: string,
  {
    sort,
    isKey,
    isId = isUuidText,
  }: { sort: string; isKey: (key: unknown) => boolean; isId?: ((id: unknown) => boolean) | undefined },
): PageCursor {
  const parts = parsed(cursor)
  if (!Array.isArray(parts) || parts.length !== 3) throw invalidCursor()
  const [forSort, key, id] = parts
  if (forSort !== sort || !isKey(key) || typeof id !== 'string' || !isId(id)) throw invalidCursor()
  return { key, id }
}

export const isNoKey = (key: unknown) => key === null
/** Accepts only our own format: PostgreSQL rejects some offsets that JavaScript parses. */
export const isDateTimeKey = (key: unknown) =>
  typeof key === 'string' && isDateTime(key) && new Date(key).toISOString() === key
export const isRankKey = (key: unknown) =>
  typeof key === 'number' && Number.isInteger(key) && Math.abs(key) < 32_768
export const isPositionKey = (key: unknown) =>
  typeof key === 'number' && Number.isInteger(key) && key >= 0 && key < 2 ** 31

const isUuidText = (id: unknown) => typeof id === 'string' && isUuid(id)

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}
