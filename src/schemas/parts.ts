import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'

/*
 * Building blocks of all schemas. Keywords that begin with `x-` are our own, checked by `domain/validation/checks.ts`;
 * the rest is JSON Schema 2020-12 as in OpenAPI 3.1. `x-words` is what an error says instead of a pattern: "must be …".
 */

export const Uuid = (description: string) =>
  Type.String({ format: 'uuid', description, examples: ['019aa3d2-6f4e-7cc0-a1b2-3c4d5e6f7081'] })

export const DateTime = (description: string) =>
  Type.String({
    format: 'date-time',
    maxLength: 35,
    description: `${description} In ISO 8601; returned in UTC with milliseconds.`,
    examples: ['2026-11-21T08:15:30.000Z'],
  })

/** A nullable type in JSON Schema; OpenAPI 3.1 has no `nullable`. */
export const Nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [schema.type, 'null'],
    ...('enum' in schema && { enum: [...schema.enum, null] }),
  })

/** One `enum`, because a union of literals reports one error per branch. */
export const StringEnum = <const T extends string[]>(
  values: T,
  options: { description: string; default?: T[number] },
) => Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options })

/** Text that is trimmed before its length is checked. Lengths are in Unicode code points. */
export const TrimmedString = (maxLength: number, options: { description: string; examples: string[] }) =>
  Type.String({ minLength: 1, maxLength, 'x-trim': true, ...options })

interface StrictOptions {
  description: string
  $id?: string
  minProperties?: number
  /** What to do instead, for members that callers expect and that are not known. */
  'x-advice'?: Record<string, string>
  /** What an error says if there are too few. */
  'x-words'?: string
}

/** An object that rejects unknown members and names them. */
export const StrictObject = <T extends TProperties>(properties: T, options: StrictOptions) =>
  Type.Object(properties, { ...options, additionalProperties: false })

/** References a schema with an `$id`, so that it is written once in the contract. */
export const ref = <T extends TSchema>(schema: T) => Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })

/** A secret of another system, which headers contain or are compared with. Errors don't repeat it. */
export const SentSecret = {
  pattern: '^[!-~]+$',
  'x-words': 'ASCII characters without spaces',
  writeOnly: true,
}

export const Metadata = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  'x-json': { maxBytes: 16_384, maxDepth: 10 },
  description: 'Your own data: a JSON object of at most 16 KiB and 10 levels.',
  examples: [{ build: 812 }],
})

export const Limit = Type.Integer({
  minimum: 1,
  maximum: 200,
  default: 50,
  description: 'The maximum number of results. A page also ends once its items have 1 MiB.',
})

export const Cursor = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'The `nextCursor` of the previous page. Pass it unchanged, with the same sort order.',
})

export const PageQuery = StrictObject(
  { limit: Type.Optional(Limit), cursor: Type.Optional(Cursor) },
  { description: 'Pagination.' },
)

/** A page of a list with keyset pagination: every page costs the same, however deep. */
export const PageOf = <T extends TSchema>(
  item: T,
  { description, maxItems = 200 }: { description: string; maxItems?: number },
) =>
  Type.Object(
    {
      data: Type.Array(item, {
        maxItems,
        description: 'The results of this page, in the requested order.',
      }),
      nextCursor: Nullable(
        Type.String({
          maxLength: 1024,
          description:
            'Pass it as `cursor` to get the next page. Null on the last page: one with fewer results than `limit` needn’t be the last.',
        }),
      ),
    },
    { description },
  )

/** A repeatable query parameter; a single value is read as a list of one. */
export const QueryArray = <T extends TSchema>(item: T, description: string) =>
  Type.Array(item, {
    minItems: 1,
    maxItems: 20,
    description: `${description} Repeat it to match any of several values.`,
  })

export const IdPath = (what: string) =>
  StrictObject({ id: Uuid(`The ID of the ${what}.`) }, { description: 'Path parameters.' })
