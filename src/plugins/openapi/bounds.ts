type Schema = Record<string, unknown>

/** The longest text, a description from the code host; the receiver has limits of its own. */
const MAX_TEXT = 262_144
const UUID_LENGTH = 36
/** All integers are counts, stored as PostgreSQL's `integer`. */
const WHOLE_NUMBER = { format: 'int32', minimum: 0, maximum: 2_147_483_647 }

/**
 * Adds a bound to every string and integer of the reference, for generated clients and gateway rules; a schema's own
 * bound is kept. Not part of validation: responses are not validated, and a long invalid id would have two errors.
 */
export function withBounds<T extends object>(document: T): T {
  return bounded(document) as T
}

function bounded(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(bounded)
  if (typeof part !== 'object' || part === null) return part
  const schema = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, isData(name) ? value : bounded(value)]),
  )
  if (isOfType(schema, 'integer')) return { ...WHOLE_NUMBER, ...schema }
  if (isOfType(schema, 'string') && !('enum' in schema || 'const' in schema))
    return { maxLength: schema.format === 'uuid' ? UUID_LENGTH : MAX_TEXT, ...schema }
  return schema
}

/** Examples and defaults are not schemas, even if they look like one; texts and exports as a whole have no bound. */
const isData = (name: string) =>
  name.startsWith('text/') ||
  name === 'application/x-ndjson' ||
  ['enum', 'const', 'example', 'examples', 'default', 'required'].includes(name)

const isOfType = ({ type }: Schema, name: string) => [type].flat().includes(name)
