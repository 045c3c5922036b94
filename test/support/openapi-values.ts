import fc from 'fast-check'
import { BROKEN, HOSTILE, IDS, LETTERS, NAMES, TEXTS, TIMES } from './openapi-hostile-values.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  examples?: unknown[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}

export interface Context {
  schemas: Record<string, Schema>
  /** Ids of what exists, by table: random ones would never be found. */
  ids: Record<string, string[]>
  /** Makes only what the schema allows. */
  isValid: boolean
}

/** A JSON body for a schema; from the careless, sometimes not JSON at all. */
export function bodyFor(schema: Schema, context: Context): fc.Arbitrary<string | Buffer | undefined> {
  const json = valueFor(schema, { context }).map((value) => JSON.stringify(value) ?? '')
  if (context.isValid) return json
  return fc.oneof(
    { weight: 12, arbitrary: json },
    { weight: 1, arbitrary: fc.constantFrom(undefined, ...BROKEN) },
    { weight: 1, arbitrary: fc.tuple(json, fc.nat(200)).map(([text, length]) => text.slice(0, length)) },
    { weight: 1, arbitrary: json.map((text) => text.replace(/\d+/, '1e400')) },
    { weight: 1, arbitrary: json.map((text) => text.replace(/"(\w+)":/, '"__proto__":')) },
  )
}

/** A value for a schema. The careless stay inside it mostly, go to its limits, and at times miss its type. */
export function valueFor(
  schema: Schema,
  { context, name = '' }: Partial<Named> & Pick<Named, 'context'>,
): fc.Arbitrary<unknown> {
  const valid = within(schema, { context, name })
  if (context.isValid) return valid
  return fc.oneof(
    { weight: 12, arbitrary: valid },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  )
}

interface Named {
  context: Context
  /** Of the member, which says what its ids refer to. */
  name: string
}

function within(schema: Schema, { context, name }: Named): fc.Arbitrary<unknown> {
  if (schema.$ref)
    return within(context.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, { context, name })
  const branches = schema.anyOf ?? schema.oneOf
  if (branches) return fc.oneof(...branches.map((branch) => within(branch, { context, name })))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type) => within({ ...schema, type }, { context, name })))
  }
  switch (schema.type) {
    case 'string':
      return text(schema, { context, name })
    case 'integer':
    case 'number':
      return number(schema, context)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return list(schema, context)
    case 'object':
      return object(schema, context)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function text(schema: Schema, { context: { ids, isValid }, name }: Named): fc.Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength = 200, examples = [] } = schema
  const given = examples as string[]
  if (format === 'uuid') {
    // `listId` and `/lists/{id}` mean rows of the table `lists`.
    const near = ids[name.replace(/Id$/, 's')] ?? Object.values(ids).flat()
    return isValid
      ? fc.constantFrom(...near)
      : fc.constantFrom(...near, ...near, ...Object.values(ids).flat(), ...IDS)
  }
  if (format === 'date-time') {
    const time = fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
      .map((date) => date.toISOString())
    return isValid ? time : fc.oneof(time, fc.constantFrom(...TIMES))
  }
  if (isValid) {
    if ((format || pattern) && given.length > 0) return fc.constantFrom(...given)
    const inLimits = fc.string({
      unit: 'grapheme-ascii',
      minLength: Math.min(minLength, 1),
      maxLength: Math.min(maxLength, 30),
    })
    return given.length > 0
      ? fc.oneof(
          inLimits.map((text) => text.trim() || 'x'),
          fc.constantFrom(...given),
        )
      : inLimits
  }
  const length = fc.constantFrom(minLength, minLength - 1, minLength + 1, maxLength, maxLength + 1)
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.constantFrom('x', ...given)),
    },
    { weight: 1, arbitrary: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...TEXTS)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...LETTERS), length)
        .map(([letter, length]) => letter.repeat(Math.max(0, length))),
    },
  )
}

function number({ type, minimum = -(2 ** 31), maximum = 2 ** 31 }: Schema, { isValid }: Context) {
  const inLimits = fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) })
  if (isValid) return inLimits
  const edges = [minimum - 1, minimum, minimum + 1, maximum - 1, maximum, maximum + 1]
  return fc.oneof(
    inLimits,
    fc.constantFrom(...edges),
    ...(type === 'number' ? [fc.double({ noNaN: true, noDefaultInfinity: true })] : []),
  )
}

function list({ items = {}, minItems = 0, maxItems = 3 }: Schema, context: Context): fc.Arbitrary<unknown[]> {
  const few = fc.array(valueFor(items, { context }), {
    minLength: minItems,
    maxLength: Math.max(minItems, 3),
  })
  if (context.isValid) return few
  return fc.oneof(
    { weight: 6, arbitrary: few },
    {
      weight: 1,
      arbitrary: fc
        .tuple(within(items, { context, name: '' }), fc.constantFrom(minItems - 1, maxItems, maxItems + 1))
        .filter(([item, length]) => (JSON.stringify(item)?.length ?? 0) * length < 500_000)
        .map(([item, length]) => Array(Math.max(0, length)).fill(item)),
    },
  )
}

function object({ properties, required = [] }: Schema, context: Context): fc.Arbitrary<unknown> {
  if (!properties) {
    const value = context.isValid ? fc.string() : fc.oneof(fc.constantFrom(...HOSTILE), fc.jsonValue())
    return fc.dictionary(fc.string({ unit: 'grapheme-ascii' }), value, { maxKeys: 4, noNullPrototype: true })
  }
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valueFor(schema, { context, name })]),
  )
  const valid = fc.record(members, { requiredKeys: required })
  if (context.isValid) return valid
  return fc.oneof(
    { weight: 10, arbitrary: valid },
    { weight: 1, arbitrary: fc.record(members, { requiredKeys: [] }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(valid, fc.constantFrom(...NAMES), fc.jsonValue())
        .map(([known, name, value]) => ({ ...known, [name]: value })),
    },
  )
}
