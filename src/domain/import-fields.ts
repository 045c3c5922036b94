import type { FieldError } from '../errors/index.ts'
import { isDateTime, isUuid, isWellFormedText } from '../schemas/formats.ts'
import { quoted } from './validation/field-errors.ts'

export type FieldType =
  | 'uuid'
  | 'text'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'time'
  | 'json'
  | 'uuids'
  | 'texts'

/** A member of a line. */
export interface ImportField {
  name: string
  type: FieldType
  /** The only values that it may have. */
  values?: readonly string[] | undefined
  isNullable: boolean
  isRequired: boolean
}

/** The errors of the members of a line, each with the member as its path. */
export function valueErrors(
  members: Record<string, unknown>,
  fields: ReadonlyMap<string, ImportField>,
): FieldError[] {
  const errors: FieldError[] = []
  for (const name in members) {
    if (name === 'kind') continue
    const field = fields.get(name)
    const message = field
      ? messageFor(members[name], field)
      : 'is not a known field. If a later version of Inlet exported the file, upgrade this instance first'
    if (message)
      errors.push({ path: name.slice(0, 100), code: field ? 'wrong_type' : 'unknown_field', message })
  }
  for (const [name, { isRequired }] of fields) {
    if (isRequired && !Object.hasOwn(members, name)) {
      errors.push({ path: name, code: 'required', message: 'is required' })
    }
  }
  return errors
}

function messageFor(value: unknown, { type, values, isNullable }: ImportField): string | undefined {
  if (value === null) return isNullable ? undefined : 'must not be null'
  if (values?.includes(value as string)) return undefined
  if (values) return `must be one of ${values.join(', ')}, not ${quoted(value)}`
  return IS_OF_TYPE[type](value) ? undefined : `must be ${WORDS[type]}, not ${quoted(value)}`
}

const isText = (value: unknown): value is string => typeof value === 'string' && isWellFormedText(value)
const isListOf = (isItem: (item: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isItem)
const isId = (value: unknown) => typeof value === 'string' && isUuid(value)

const IS_OF_TYPE: Record<FieldType, (value: unknown) => boolean> = {
  uuid: isId,
  text: isText,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: Number.isFinite,
  time: (value) => typeof value === 'string' && isDateTime(value),
  json: (value) => value !== undefined,
  uuids: isListOf(isId),
  texts: isListOf(isText),
}

const WORDS: Record<FieldType, string> = {
  uuid: 'a UUID',
  text: 'text without NUL characters and lone surrogates',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  time: 'a time in ISO 8601',
  json: 'JSON',
  uuids: 'an array of UUIDs',
  texts: 'an array of texts',
}
