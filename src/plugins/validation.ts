import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { FastifyInstance, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { type AppError, type FieldError, validationFailed } from '../errors/index.ts'
import { lazily } from '../lib/lazy.ts'
import {
  isActivityType,
  isDateTime,
  isJsonWithin,
  isUuid,
  isWebAddress,
  isWellFormedText,
  RESERVED_ACTIVITY_PREFIXES,
} from '../schemas/formats.ts'
import { namedSchemas } from '../schemas/index.ts'

/** At most this many errors are listed; the rest is counted. */
const MAX_ERRORS = 100

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiles a strict check of a JSON value; it answers the refusal, undefined when all is well. */
    compileCheck(schema: object): (value: unknown, at: string) => AppError | undefined
  }
}

/**
 * Two compilers: bodies are never coerced, queries and path parameters are. Both report every error, know
 * the keywords of `schemas/parts.ts`, and stay cheap when the input has a million errors. A schema is compiled when
 * it is first needed: all of them at the start were a quarter of its time.
 */
export const validation = fp(
  async function validation(app: FastifyInstance) {
    const strict = compilerOf({ coerceTypes: false })
    const coercing = compilerOf({ coerceTypes: 'array' })

    app.setValidatorCompiler<FastifySchema>(({ schema, httpPart }) => {
      const compiled = lazily(() =>
        (httpPart === 'body' ? strict : coercing).compile(bounded(schema) as object),
      )
      return (value: unknown) => {
        const check = compiled()
        return check(value) ? { value } : { error: refusalOf(check, placeIn(httpPart)) }
      }
    })

    app.decorate('compileCheck', checksBy(strict))
  },
  { name: 'validation' },
)

/** What compiles strict checks of JSON values, for another thread. */
export const strictChecks = (options: { useDefaults: boolean }) =>
  checksBy(compilerOf({ coerceTypes: false, ...options }))

function checksBy(strict: Ajv2020): FastifyInstance['compileCheck'] {
  return (schema) => {
    const compiled = lazily(() => strict.compile(bounded(schema) as object))
    return (value, at) => {
      const check = compiled()
      return check(value) ? undefined : refusalOf(check, (pointer) => at + pointer)
    }
  }
}

function compilerOf(options: { coerceTypes: false | 'array'; useDefaults?: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    strict: false,
    // Where text is coerced, Infinity must meet `maximum`: a strict check of limits passes it over.
    strictNumbers: options.coerceTypes === false,
    ...options,
  })
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('date-time', isDateTime)
  ajv.addFormat('uri', isWebAddress)
  ajv.addFormat('activity-type', isActivityType)
  ajv.addKeyword({
    keyword: 'x-trim',
    type: 'string',
    before: 'maxLength',
    modifying: true,
    validate: (
      _: true,
      text: string,
      __: unknown,
      at?: { parentData: Record<string, unknown>; parentDataProperty: string | number },
    ) => {
      if (at) at.parentData[at.parentDataProperty] = text.trim()
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
  for (const schema of namedSchemas) ajv.addSchema(bounded(schema) as object, `${schema.$id}#`)
  return ajv
}

/**
 * The same schema, made safe to check for all errors at once: the items of an array over its limit are not
 * looked at, unknown members are reported up to a limit, and every text must be text PostgreSQL can hold.
 */
function bounded(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bounded)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $id: _, ...own } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, isData(key) ? value : bounded(value)]),
  ) as Record<string, unknown>
  if (isType(own, 'string') && !own.enum) own['x-text'] = true
  if (own.additionalProperties === false) {
    delete own.additionalProperties
    own['x-closed'] = Object.keys((own.properties ?? {}) as object)
  }
  if (own['x-items-by-route']) delete own.items
  if (own.items && own.maxItems !== undefined) {
    const { items, maxItems, ...rest } = own
    return { ...rest, maxItems, if: { minItems: Number(maxItems) + 1 }, else: { items } }
  }
  return own
}

const isData = (keyword: string) => ['enum', 'default', 'examples', 'const', 'x-json'].includes(keyword)

const isType = (schema: Record<string, unknown>, type: string) =>
  Array.isArray(schema.type) ? schema.type.includes(type) : schema.type === type

const onlyKnownMembers: ((known: string[], value: object) => boolean) & { errors?: Partial<ErrorObject>[] } =
  (known, value) => {
    const errors: Partial<ErrorObject>[] = []
    let others = 0
    for (const member in value) {
      if (known.includes(member)) continue
      // A body has room for a million of them: past the limit they are only counted.
      if (errors.length === MAX_ERRORS) others++
      else errors.push({ keyword: 'x-closed', params: { member } })
    }
    if (others > 0) Object.assign(errors[0]?.params ?? {}, { others })
    onlyKnownMembers.errors = errors
    return errors.length === 0
  }

/** Bodies are pointed into; the other parts are named. */
function placeIn(httpPart: string | undefined) {
  const part = { querystring: 'query', params: 'path', headers: 'header' }[httpPart ?? 'body']
  return part
    ? (pointer: string) => [part, ...pointer.split('/').slice(1, 2).map(unescapePointer)].join('.')
    : (pointer: string) => pointer
}

function refusalOf(check: ValidateFunction, place: (pointer: string) => string): AppError {
  const found = (check.errors ?? []).filter((error) => error.keyword !== 'if')
  const listed = found.slice(0, MAX_ERRORS)
  const others = found.reduce((sum, { params }) => sum + (params.others ?? 0), 0)
  return validationFailed(
    listed.map((error) => ({ ...explain(error), path: place(pointerOf(error)) })),
    found.length - listed.length + others,
  )
}

function pointerOf({ instancePath, params }: ErrorObject): string {
  const member = params.missingProperty ?? params.member
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`
}

export const escapePointer = (member: string) => cut(member).replaceAll('~', '~0').replaceAll('/', '~1')
const unescapePointer = (member: string) => member.replaceAll('~1', '/').replaceAll('~0', '~')

function explain({ keyword, params, data, parentSchema }: ErrorObject): { code: string; message: string } {
  const limit = grouped(params.limit)
  switch (keyword) {
    case 'required':
      return { code: 'required', message: 'is required' }
    case 'x-closed':
      return { code: 'unknown_field', message: 'is not a known field' }
    case 'type':
      return { code: 'wrong_type', message: `must be ${wordsFor(params.type)}, not ${quoted(data)}` }
    case 'enum':
      return {
        code: 'not_allowed',
        message: `must be one of ${params.allowedValues.map(String).join(', ')}, not ${quoted(data)}`,
      }
    case 'minLength':
      return {
        code: 'too_short',
        message: `must have at least ${limit} character${limit === '1' ? '' : 's'}`,
      }
    case 'maxLength':
      return {
        code: 'too_long',
        message: `must have at most ${limit} characters, not ${grouped(charactersOf(data as string))}`,
      }
    case 'minItems':
      return { code: 'too_few', message: `must have at least ${limit} item${limit === '1' ? '' : 's'}` }
    case 'maxItems':
      return {
        code: 'too_many',
        message: `must have at most ${limit} items, not ${grouped((data as unknown[]).length)}`,
      }
    case 'minProperties':
      return { code: 'too_few', message: `must have at least ${limit} fields` }
    case 'minimum':
    case 'maximum':
      return { code: 'out_of_range', message: `must be ${params.comparison} ${limit}, not ${quoted(data)}` }
    case 'format':
      return { code: 'wrong_format', message: `must be ${FORMATS[params.format]}, not ${quoted(data)}` }
    case 'pattern':
      return { code: 'wrong_format', message: `must match ${params.pattern}, not ${quoted(data)}` }
    case 'x-text':
      return { code: 'invalid_text', message: 'must not contain NUL characters or unpaired surrogates' }
    case 'x-json': {
      const { maxBytes, maxDepth } = parentSchema?.['x-json'] ?? {}
      return {
        code: 'invalid_json_value',
        message: `must be at most ${grouped(maxBytes)} bytes of JSON and ${maxDepth} levels deep, without NUL characters, unpaired surrogates or infinite numbers`,
      }
    }
    default:
      return { code: 'invalid', message: `is invalid (${keyword})` }
  }
}

const FORMATS: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'an ISO 8601 time with an offset, such as 2026-11-21T08:15:30.000Z',
  uri: 'an http or https URL',
  'activity-type': `a type that doesn’t begin with ${RESERVED_ACTIVITY_PREFIXES.join(' ')}`,
}

const wordsFor = (type: string | string[]) =>
  [type]
    .flat()
    .map((name) => (name === 'null' ? 'null' : `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`))
    .join(' or ')

/** What was given, short: a primitive as JSON, anything else by its kind. */
function quoted(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'string' ? JSON.stringify(cut(value)) : String(value)
}

const cut = (text: string) => {
  const start = text.slice(0, 200)
  return (
    [...start].slice(0, 100).join('') + (start.length < text.length || [...start].length > 100 ? '…' : '')
  )
}

/** Counted one by one: a list of a million of them costs more than all else. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

export const grouped = (number: number) => Intl.NumberFormat('en').format(number)

/** The errors that a response lists, and the number of those it omits. */
export function listed(error: AppError): { errors?: FieldError[]; errorsOmitted?: number } {
  const { errors, errorsOmitted = 0 } = error.extras
  if (!errors) return {}
  const listed = errors.slice(0, MAX_ERRORS)
  const omitted = errors.length - listed.length + errorsOmitted
  return { errors: listed, ...(omitted > 0 && { errorsOmitted: omitted }) }
}
