import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { AppError } from '../../errors/index.ts'
import { lazily } from '../../lib/lazy.ts'
import { without } from '../../lib/without.ts'
import {
  isActivityType,
  isDateTime,
  isEventId,
  isJsonWithin,
  isUuid,
  isWebAddress,
  isWellFormedText,
} from '../../schemas/formats.ts'
import { namedSchemas } from '../../schemas/index.ts'
import { MAX_ERRORS, validationError } from './field-errors.ts'

/** Makes the path of an error from its JSON Pointer. */
type PathOf = (pointer: string) => string

/** Returns all errors of a value as one, none if it is valid: the form that Fastify expects of a validator. */
type Check = (value: unknown, pathOf?: PathOf) => { error?: AppError }

interface CheckOptions {
  /** For text that stands for other types, as in queries: a single value is also accepted for an array. */
  coerceTypes: false | 'array'
  useDefaults?: boolean
}

/**
 * Compiles schemas to checks that report every error, support the keywords of `schemas/parts.ts`, and stay cheap for
 * input with a million errors. A schema is compiled when it is first used, as is the compiler itself: both together took a
 * third of the startup time.
 */
export function checkCompiler(options: CheckOptions) {
  const ajv = lazily(() => ajvWith(options))
  return (schema: unknown, defaultPath: PathOf = (pointer) => pointer): Check => {
    const compiled = lazily(() => ajv().compile(bounded(schema) as object))
    return (value, pathOf = defaultPath) => {
      const validate = compiled()
      return validate(value) ? {} : { error: validationError(validate.errors ?? [], pathOf) }
    }
  }
}

function ajvWith(options: CheckOptions): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    strict: false,
    // Checking the schemas themselves would take longer than compiling one of them; a test does.
    meta: false,
    validateSchema: false,
    // Coerced text can be Infinity, which must be checked against `maximum`: strict numbers would skip that.
    strictNumbers: options.coerceTypes === false,
    ...options,
  })
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', isDateTime)
  ajv.addFormat('uri', isWebAddress)
  ajv.addFormat('activity-type', isActivityType)
  ajv.addFormat('event-id', isEventId)
  ajv.addKeyword({
    keyword: 'x-trim',
    type: 'string',
    before: 'maxLength',
    modifying: true,
    // biome-ignore lint/complexity/useMaxParams: Ajv's signature.
    validate: (
      _: true,
      text: string,
      __: unknown,
      member?: { parentData: Record<string, unknown>; parentDataProperty: string | number },
    ) => {
      if (member) member.parentData[member.parentDataProperty] = text.trim()
      return true
    },
  })
  ajv.addKeyword({
    keyword: 'x-text',
    type: 'string',
    validate: (_: true, text: string) => isWellFormedText(text),
  })
  ajv.addKeyword({
    keyword: 'x-json',
    type: 'object',
    validate: (limits: { maxBytes: number; maxDepth: number }, value: object) => isJsonWithin(value, limits),
  })
  ajv.addKeyword({ keyword: 'x-closed', type: 'object', errors: true, validate: onlyKnownMembers })
  for (const [name, schema] of boundedSchemas()) ajv.addSchema(schema, name)
  return ajv
}

const boundedSchemas = lazily(() =>
  namedSchemas.map((schema) => [`${schema.$id}#`, bounded(schema) as object] as const),
)

/**
 * Returns the schema with bounds on the cost of reporting all errors: items of an array over its limit are not
 * checked, and unknown members are reported up to a limit. Every text must be text that PostgreSQL can store.
 */
function bounded(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bounded)
  if (typeof schema !== 'object' || schema === null) return schema
  const own: Record<string, unknown> = Object.fromEntries(
    Object.entries(without(schema as Record<string, unknown>, ['$id'])).map(([key, value]) => [
      key,
      isData(key) ? value : bounded(value),
    ]),
  )
  if (isType(own, 'string') && !own.enum) own['x-text'] = true
  if (own.additionalProperties === false) {
    delete own.additionalProperties
    own['x-closed'] = { known: Object.keys((own.properties ?? {}) as object), advice: own['x-advice'] }
  }
  if (own['x-items-by-route']) delete own.items
  // The format includes it: it is for clients that don't know the format.
  if (own.format === 'uri') delete own.pattern
  if (own.items && own.maxItems !== undefined) {
    const { items, maxItems, ...rest } = own
    return { ...rest, maxItems, if: { minItems: Number(maxItems) + 1 }, else: { items } }
  }
  return own
}

interface KnownMembers {
  known: string[]
  /** What to do instead, for some that are not known. */
  advice?: Record<string, string>
}

const isData = (keyword: string) =>
  ['enum', 'default', 'examples', 'const', 'x-json', 'x-advice'].includes(keyword)

const isType = (schema: Record<string, unknown>, type: string) =>
  Array.isArray(schema.type) ? schema.type.includes(type) : schema.type === type

const onlyKnownMembers: ((schema: KnownMembers, value: object) => boolean) & {
  errors?: Partial<ErrorObject>[]
} = ({ known, advice }, value) => {
  const errors: Partial<ErrorObject>[] = []
  let others = 0
  for (const member in value) {
    if (known.includes(member)) continue
    // A body can contain a million of them: past the limit they are only counted.
    if (errors.length === MAX_ERRORS) others++
    else errors.push({ keyword: 'x-closed', params: { member, known, advice } })
  }
  if (others > 0) Object.assign(errors[0]?.params ?? {}, { others })
  onlyKnownMembers.errors = errors
  return errors.length === 0
}
