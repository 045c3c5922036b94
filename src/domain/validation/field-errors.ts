import type { ErrorObject } from 'ajv/dist/2020.js'
import { type AppError, validationFailed } from '../../errors/index.ts'
import { isSameName, nearestName } from '../../lib/nearest-name.ts'
import { RESERVED_ACTIVITY_PREFIXES } from '../../schemas/formats.ts'

/** At most this many errors are listed; the rest is counted. */
export const MAX_ERRORS = 100

/** The errors of a check as `validation_failed`, with a path, a code and a message each. */
export function validationError(errors: ErrorObject[], pathOf: (pointer: string) => string): AppError {
  const found = errors.filter((error) => error.keyword !== 'if' && !isOfWrongType(error))
  const listed = found.slice(0, MAX_ERRORS)
  const others = found.reduce((sum, { params }) => sum + (params.others ?? 0), 0)
  return validationFailed(
    listed.map((error) => ({ ...explain(error), path: pathOf(pointerOf(error)) })),
    found.length - listed.length + others,
  )
}

/** A value of another type is not one of an enum, either: the error of its type names them. */
const isOfWrongType = ({ keyword, data, parentSchema }: ErrorObject) =>
  keyword === 'enum' && parentSchema?.type === 'string' && typeof data !== 'string'

/** A member name as a part of a JSON Pointer, cut to 100 characters. */
export const escapePointer = (member: string) => cut(member).replaceAll('~', '~0').replaceAll('/', '~1')

export const unescapePointer = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~')

export const grouped = (number: number) => Intl.NumberFormat('en').format(number)

function pointerOf({ instancePath, params }: ErrorObject): string {
  const member = params.missingProperty ?? params.member
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`
}

const expected = (schema: ErrorObject['parentSchema'], params: ErrorObject['params']): string =>
  schema?.enum ? `one of ${schema.enum.map(String).join(', ')}` : wordsFor(params.type)

function explain({ keyword, params, data, parentSchema }: ErrorObject): { code: string; message: string } {
  const limit = grouped(params.limit)
  switch (keyword) {
    case 'required':
      return { code: 'required', message: 'is required' }
    case 'x-closed':
      return { code: 'unknown_field', message: unknownField(params) }
    case 'type':
      return { code: 'wrong_type', message: `must be ${expected(parentSchema, params)}, not ${quoted(data)}` }
    case 'enum':
      return {
        code: 'not_allowed',
        message: `must be ${expected(parentSchema, params)}, not ${quoted(data)}`,
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
      return { code: 'too_few', message: parentSchema?.['x-words'] ?? `must have at least ${limit} fields` }
    case 'minimum':
    case 'maximum':
      return { code: 'out_of_range', message: `must be ${params.comparison} ${limit}, not ${quoted(data)}` }
    case 'format':
      return { code: 'wrong_format', message: `must be ${FORMATS[params.format]}, not ${quoted(data)}` }
    case 'pattern': {
      const { 'x-words': words, writeOnly } = parentSchema ?? {}
      // A secret must not be repeated, even if it is invalid.
      const value = writeOnly ? '' : `, not ${quoted(data)}`
      return { code: 'wrong_format', message: `must be ${words}${value}` }
    }
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

function unknownField({ member, known, advice }: ErrorObject['params']): string {
  const named = Object.keys(advice ?? {}).find((name) => isSameName(name, member))
  const instead = named === undefined ? undefined : advice[named]
  const nearest = instead === undefined ? nearestName(member, known) : undefined
  const help = instead ?? (nearest === undefined ? undefined : `Did you mean \`${nearest}\`?`)
  return help === undefined ? 'is not a known field' : `is not a known field. ${help}`
}

const FORMATS: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'an ISO 8601 time with an offset, such as 2026-11-21T08:15:30.000Z',
  uri: 'an http or https URL',
  'event-id': 'the id of an event or the ID of an activity',
  'activity-type': `a type that doesn’t begin with ${RESERVED_ACTIVITY_PREFIXES.join(' ')}`,
}

const wordsFor = (type: string | string[]) =>
  [type]
    .flat()
    .map((name) => (name === 'null' ? 'null' : `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`))
    .join(' or ')

/** A value for a message: a primitive as JSON, cut to 100 characters, anything else as its type. */
export function quoted(value: unknown): string {
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

/** Counted without an array of them: a million characters would cost more than the rest of the check. */
function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
