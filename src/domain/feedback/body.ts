import { repaired } from '../../schemas/formats.ts'

/** Deeper than this a value is kept as its text: neither PostgreSQL nor a stack takes any depth. */
const DEEPEST = 100

/** A delivery as JSON, or how many characters of it are. */
export type Body = { isJson: true; body: unknown } | { isJson: false; readUpTo: number }

/**
 * The JSON in a delivery, with its texts made such that PostgreSQL can hold them. An empty body is an empty object.
 * Members named `__proto__` are members like any other.
 */
export function readBody(bytes: Uint8Array): Body {
  // Bytes that are no UTF-8 become U+FFFD; a NUL byte or a byte-order mark is no reason to lose an event.
  const text = Buffer.from(bytes)
    .toString()
    .replaceAll('\0', '')
    .replace(/^\uFEFF/, '')
  if (text.trim() === '') return { isJson: true, body: {} }
  try {
    return { isJson: true, body: kept(parsed(text)) }
  } catch (error) {
    // Nothing else of the message: it quotes what was sent.
    const place = /at position (\d+)/.exec((error as Error).message)?.[1]
    return { isJson: false, readUpTo: place === undefined ? text.length : Number(place) }
  }
}

/** JSON of at most so many bytes; what is longer is cut, and then it is only text. */
export function payloadOf(body: unknown, maxBytes: number): { payload: string; payloadCut: boolean } {
  const text = JSON.stringify(body)
  const payload = firstBytes(text, maxBytes)
  return { payload, payloadCut: payload.length < text.length }
}

/** As much of a text as so many bytes of UTF-8 hold, cut between two characters. */
export function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** Integers beyond what a number can hold are kept as text, digit by digit: they are identifiers. */
function parsed(text: string): unknown {
  if (!/\d{16}|\d[eE]\+?\d{3}/.test(text)) return JSON.parse(text)
  try {
    return JSON.parse(text, withSource(exact))
  } catch {
    // Too deep for a reviver, or no JSON at all: then this throws as well.
    return JSON.parse(text)
  }
}

function exact(value: unknown, source: string | undefined): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(source))
  return isExact ? value : source
}

/** Node hands a reviver the text of each value; TypeScript's library does not know it yet. */
const withSource = (revive: (value: unknown, source: string | undefined) => unknown) =>
  ((_: string, value: unknown, context?: { source?: string }) => revive(value, context?.source)) as (
    key: string,
    value: unknown,
  ) => unknown

function kept(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return repaired(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST) return repaired(asText(value))
  if (Array.isArray(value)) return value.map((item) => kept(item, depth + 1))
  // fromEntries defines members and never assigns them: `__proto__` stays a name.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [repaired(name), kept(member, depth + 1)]),
  )
}

function asText(value: object): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '(nested too deep to be kept)'
  }
}
