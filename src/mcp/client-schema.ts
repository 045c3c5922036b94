import type { TSchema } from '@sinclair/typebox'
import { namedSchemas } from '../schemas/index.ts'

type JsonSchema = { [keyword: string]: unknown }

/**
 * A schema for clients: references are inlined, because clients cannot resolve them; `x-` keywords are removed,
 * because strict parsers reject unknown keywords; examples are removed, because every client loads all of it in every
 * session.
 */
export const clientSchema = (schema: TSchema): JsonSchema => plain(schema) as JsonSchema

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

/** Members of `properties` are names of fields, even if they look like keywords. */
function plainValue(keyword: string, value: unknown): unknown {
  if (keyword !== 'properties') return plain(value)
  return Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, plain(schema)]))
}

/** Writes "or null" as a branch of `anyOf`: some clients support only a single `type`. */
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
