import type { TObject } from '@sinclair/typebox'

type JsonSchema = { [keyword: string]: unknown }
type ObjectSchema = JsonSchema & { type: 'object' }

/**
 * What a model needs to know of a schema, as short as possible, because every client loads all of it in every session.
 * Limits are checked and explained when they are exceeded, unknown members are named, and IDs are copied from results. In
 * a change, null clears a field; elsewhere, it is the same as no value.
 */
export const inputSchema = (schema: TObject, { isChange }: { isChange: boolean }): ObjectSchema => ({
  ...plain(schema, { hasNull: isChange }),
  ...head(schema),
  // As the protocol requires it of tools without input.
  ...(Object.keys(schema.properties).length === 0 && { additionalProperties: false }),
})

/** The same for a result, which clients validate. */
export const outputSchema = (schema: TObject): ObjectSchema => ({
  ...plain(schema, { hasNull: true }),
  ...head(schema),
})

interface Options {
  /** Whether null is written, as a branch of `anyOf`: some clients support only a single `type`. */
  hasNull: boolean
}

/** Tools take and return objects. What is required deep inside is for whoever makes it. */
const head = ({ required }: TObject) => ({ type: 'object' as const, ...(required && { required }) })

const KEYWORDS: readonly string[] = ['enum', 'default']

function plain(schema: JsonSchema, options: Options): JsonSchema {
  const { type: types, properties, items, description, format, enum: values } = schema
  const own = {
    ...Object.fromEntries(Object.entries(schema).filter(([keyword]) => KEYWORDS.includes(keyword))),
    type: [types].flat()[0],
    ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }),
    ...(format === 'date-time' && { format }),
    ...(description !== '' && description !== undefined && { description }),
    ...(isSchema(properties) && { properties: plainProperties(properties, options) }),
    // A description of the whole array says it.
    ...(isSchema(items) && { items: plain({ ...items, description: undefined }, options) }),
  }
  return options.hasNull && Array.isArray(types) ? { anyOf: [own, { type: 'null' }] } : own
}

/** Members of `properties` are names of fields, even if they look like keywords. */
const plainProperties = (properties: JsonSchema, options: Options) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, plain(asSchema(schema), options)]),
  )

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null

/** Cast: TypeBox makes no other schemas here. */
const asSchema = (schema: unknown) => schema as JsonSchema
