import { namedProperties } from '../../schemas/feedback.ts'
import { firstBytes } from './body.ts'

/** What a task keeps of the properties of an event. */
export interface KeptProperties {
  properties: Record<string, unknown>
  /** How many it does not keep. */
  omitted: number
  /** The note was longer than a task holds. */
  isNoteCut: boolean
}

const MAX_PROPERTIES = 1_000
export const NOTE_BYTES = 65_536
/** Of all properties together, what stands inside of them included. */
const MAX_VALUES = 20_000

/** The properties that are known by name go first, whatever else there is; the order stays as it came. */
export function keptProperties(properties: Record<string, unknown>): KeptProperties {
  const entries = Object.entries(properties)
  const isNoteCut = typeof properties.note === 'string' && Buffer.byteLength(properties.note) > NOTE_BYTES
  const named = entries.filter(([name]) => namedProperties.has(name))
  const others = entries.filter(([name]) => !namedProperties.has(name))

  const kept = new Set<string>()
  let left = MAX_VALUES
  for (const [name, value] of [...named, ...others]) {
    if (kept.size === MAX_PROPERTIES) break
    const values = countValues(value, left)
    if (values > left) continue
    left -= values
    kept.add(name)
  }
  if (kept.size === entries.length && !isNoteCut) return { properties, omitted: 0, isNoteCut }
  return {
    properties: Object.fromEntries(
      entries
        .filter(([name]) => kept.has(name))
        .map(([name, value]) => [name, name === 'note' && isNoteCut ? cutNote(String(value)) : value]),
    ),
    omitted: entries.length - kept.size,
    isNoteCut,
  }
}

const cutNote = (note: string) => `${firstBytes(note, NOTE_BYTES)}…`

/** Stops at the first one too many; no value here is deep. */
function countValues(value: unknown, most: number): number {
  let count = 1
  if (typeof value !== 'object' || value === null) return count
  for (const member of Object.values(value)) {
    if (count > most) break
    count += countValues(member, most - count)
  }
  return count
}
