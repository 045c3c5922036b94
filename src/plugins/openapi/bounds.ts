type Schema = Record<string, unknown>

/** The longest text there is, a description from the code host; the receiver says its own. */
const MAX_TEXT = 262_144
const UUID_LENGTH = 36
/** Every whole number here counts something, and is one of PostgreSQL's. */
const WHOLE_NUMBER = { format: 'int32', minimum: 0, maximum: 2_147_483_647 }

/**
 * The reference with a bound on every text and whole number, so that who generates a client or a gateway's rules from
 * it needs no guess. What a schema says itself stays. Only in the reference: answers are not checked against it, and
 * an identifier that is too long is told that it is none, once.
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

/** Examples and defaults are no schemas, whatever they look like; texts that are a whole answer have no bound. */
const isData = (name: string) =>
  name.startsWith('text/') || ['enum', 'const', 'example', 'examples', 'default', 'required'].includes(name)

const isOfType = ({ type }: Schema, name: string) => [type].flat().includes(name)
