/* The checks behind the formats and limits named in the schemas. */

export const isUuid = (text: string) =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)

/** The form of a cursor of changes, which is also the id of an event of the stream: 24 bytes in base64url. */
export const isChangeCursor = (text: string) => /^[\w-]{32}$/.test(text)

/** What a stream resumes from: the id of an event, or of an activity. */
export const isEventId = (text: string) => isChangeCursor(text) || isUuid(text)

/** ISO 8601 with an offset, an existing day, and a year that PostgreSQL and JavaScript format alike (1 to 9999 UTC). */
export function isDateTime(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i.exec(text)
  if (!parts) return false
  const [, year, month, day] = parts.map(Number)
  // Date.parse reads 31 February as 3 March.
  if (day !== new Date(Date.UTC(2000 + (Number(year) % 400), Number(month) - 1, Number(day))).getUTCDate())
    return false
  const utcYear = new Date(text).getUTCFullYear()
  return utcYear >= 1 && utcYear <= 9999
}

export function isWebAddress(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text)) return false
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:')
}

/** Prefixes of the service's own activity types; callers may not write them. */
export const RESERVED_ACTIVITY_PREFIXES = [
  'task.',
  'rule.',
  'key.',
  'sync.',
  'feedback.',
  'comment.',
  'project.',
  'list.',
  'routing.',
  'connection.',
  'session.',
  'source.',
  'webhook.',
  'person.',
  'invite.',
  'identity.',
  'grant.',
  'pipe.',
]

export const isActivityType = (text: string) =>
  !RESERVED_ACTIVITY_PREFIXES.some((prefix) => text.startsWith(prefix))

/** The longest description or comment of another system, in UTF-8; longer ones are cut. */
export const MAX_RECEIVED_BYTES = 262_144

/** PostgreSQL stores neither NUL nor lone surrogates. */
export const isWellFormedText = (text: string) => !text.includes('\0') && text.isWellFormed()

/**
 * Iterates level by level, so that depth uses no stack. Stops at the first level that is too deep, or once the value
 * is known to be too long, so it never visits more than the limit.
 */
export function isJsonWithin(value: object, limits: { maxBytes: number; maxDepth: number }): boolean {
  let left = limits.maxBytes
  let level: object[] = [value]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.maxDepth) return false
    const next: object[] = []
    for (const container of level) {
      for (const [key, member] of membersOf(container)) {
        left -= shortestJson(key) + shortestJson(member)
        if (left < 0) return false
        if (!isWellFormedText(key)) return false
        if (typeof member === 'string' && !isWellFormedText(member)) return false
        if (typeof member === 'number' && !Number.isFinite(member)) return false
        if (typeof member === 'object' && member !== null) next.push(member)
      }
    }
    level = next
  }
  return Buffer.byteLength(JSON.stringify(value)) <= limits.maxBytes
}

/** A generator: an array of all members would be as large as the value that may be rejected. */
function* membersOf(container: object): Generator<[key: string, member: unknown]> {
  if (Array.isArray(container)) for (const item of container) yield ['', item]
  else for (const key in container) yield [key, (container as Record<string, unknown>)[key]]
}

/** Minimum bytes that a value adds to the JSON around it, its comma included. */
const shortestJson = (value: unknown) => (typeof value === 'string' ? value.length : 1)

/** Replaces characters that PostgreSQL cannot store, in text of senders that cannot fix it. */
export const repaired = (text: string) => text.replaceAll('\0', '').toWellFormed()
