import { truncateUtf8 } from '../lib/truncate-utf8.ts'
import { repaired } from '../schemas/formats.ts'

/** Of a payload, so much is stored at most; those of the code host are stored whole. */
export const MAX_PAYLOAD_BYTES = 262_144

/** Values nested deeper than this are stored as JSON text: PostgreSQL and the call stack limit the depth. */
const MAX_DEPTH = 100

/** The parsed JSON of a delivery, or how many of its characters are valid JSON. */
export type Body = { isJson: true; body: unknown } | { isJson: false; readUpTo: number }

/**
 * Parses a delivery and replaces characters that PostgreSQL cannot store. An empty body becomes an empty object.
 * Members named `__proto__` are ordinary members.
 */
export function readJson(bytes: Uint8Array): Body {
  // Invalid UTF-8 becomes U+FFFD; a NUL byte or a byte-order mark does not reject an event.
  const text = Buffer.from(bytes)
    .toString()
    .replaceAll('\0', '')
    .replace(/^\uFEFF/, '')
  if (text.trim() === '') return { isJson: true, body: {} }
  try {
    return { isJson: true, body: storable(parsed(text)) }
  } catch (error) {
    // The rest of the parser's message is dropped: it quotes the payload.
    const position = /at position (\d+)/.exec((error as Error).message)?.[1]
    return { isJson: false, readUpTo: position === undefined ? text.length : Number(position) }
  }
}

/** JSON truncated to a maximum of bytes; truncated JSON is plain text and may not parse. */
export function payloadOf(body: unknown, maxBytes: number): { payload: string; payloadCut: boolean } {
  const text = JSON.stringify(body)
  const payload = truncateUtf8(text, maxBytes)
  return { payload, payloadCut: payload.length < text.length }
}

/** Integers beyond the safe range are stored as text, digit by digit: they are identifiers. */
function parsed(text: string): unknown {
  if (!/\d{16}|\d[eE]\+?\d{3}/.test(text)) return JSON.parse(text)
  return JSON.parse(text, withSource(exact))
}

function exact(value: unknown, source: string | undefined): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(source))
  return isExact ? value : source
}

/** Node passes a reviver the source text of each value; TypeScript's library lacks that type. */
const withSource = (revive: (value: unknown, source: string | undefined) => unknown) =>
  // biome-ignore lint/complexity/useMaxParams: the signature of a reviver.
  ((_: string, value: unknown, context?: { source?: string }) => revive(value, context?.source)) as (
    key: string,
    value: unknown,
  ) => unknown

function storable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return repaired(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return repaired(JSON.stringify(value))
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1))
  // `fromEntries` defines members instead of assigning them, so `__proto__` stays an ordinary name.
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [repaired(name), storable(member, depth + 1)]),
  )
}
