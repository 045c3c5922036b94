import type { TSchema } from '@sinclair/typebox'
import { namedSchemas } from '../schemas/index.ts'

type JsonSchema = { [keyword: string]: unknown }

/**
 * A schema as clients may read it: whole, because nothing outside can follow our references, and without the
 * keywords that are our own, because strict readers refuse what they do not know. Without examples: every client
 * reads all of it in every session.
 */
export const published = (schema: TSchema): JsonSchema => plain(schema) as JsonSchema

const byReference = new Map(namedSchemas.map((schema) => [`${schema.$id}#`, schema as TSchema]))

function plain(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(plain)
  if (typeof part !== 'object' || part === null) return part
  const { $ref, ...own } = part as JsonSchema
  const named = byReference.get(String($ref))
  if (named) return plain({ ...named, ...own })
  return withOneType(
    Object.fromEntries(
      Object.entries(own)
        .filter(([keyword]) => !['$id', 'examples'].includes(keyword) && !keyword.startsWith('x-'))
        .map(([keyword, value]) => [keyword, isData(keyword) ? value : plainValue(keyword, value)]),
    ),
  )
}

/** Members of `properties` are names, whatever they look like. */
function plainValue(keyword: string, value: unknown): unknown {
  if (keyword !== 'properties') return plain(value)
  return Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, plain(schema)]))
}

/** "Or null" as a branch: some clients map schemas onto a dialect where a type is one word. */
function withOneType(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.type)) return schema
  const { type: types, description, enum: values, ...own } = schema
  const branches = (types as string[]).map((type) =>
    type === 'null'
      ? { type }
      : { type, ...own, ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }) },
  )
  return { description, anyOf: branches }
}

const isData = (keyword: string) => ['enum', 'default', 'const'].includes(keyword)
