import { truncateUtf8 } from '../../lib/truncate-utf8.ts'
import { namedProperties } from '../../schemas/feedback.ts'

/** The properties of an event that its task stores. */
export interface LimitedProperties {
  properties: Record<string, unknown>
  /** Number of properties dropped. */
  omitted: number
  /** True if the note exceeded `NOTE_BYTES` and was truncated. */
  isNoteCut: boolean
}

const MAX_PROPERTIES = 1_000
export const MAX_NOTE_BYTES = 65_536
/** Keeps the known properties first when over the limit; the original order is preserved. */
export function limitProperties(properties: Record<string, unknown>): LimitedProperties {
  const entries = Object.entries(properties)
  const isNoteCut = typeof properties.note === 'string' && Buffer.byteLength(properties.note) > MAX_NOTE_BYTES
  const named = entries.filter(([name]) => namedProperties.has(name))
  const others = entries.filter(([name]) => !namedProperties.has(name))

  const included = new Set([...named, ...others].slice(0, MAX_PROPERTIES).map(([name]) => name))
  if (included.size === entries.length && !isNoteCut) return { properties, omitted: 0, isNoteCut }
  return {
    properties: Object.fromEntries(
      entries
        .filter(([name]) => included.has(name))
        .map(([name, value]) => [name, name === 'note' && isNoteCut ? cutNote(String(value)) : value]),
    ),
    omitted: entries.length - included.size,
    isNoteCut,
  }
}

const cutNote = (note: string) => `${truncateUtf8(note, MAX_NOTE_BYTES)}…`
