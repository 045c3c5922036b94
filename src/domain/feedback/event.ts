import { hash } from 'node:crypto'
import type { FieldError } from '../../errors/index.ts'
import { FEEDBACK_SUBMITTED, Sentiment } from '../../schemas/feedback.ts'
import { isDateTime } from '../../schemas/formats.ts'

/** A feedback event, independent of the format it was sent in. */
export interface FeedbackEvent {
  uuid: string | null
  distinctId: string
  /** The original text of the timestamp. */
  timestamp: string
  sentiment: Sentiment
  trigger: string
  appVersion: string
  properties: Record<string, unknown>
}

/** The result of reading a delivery. */
export type Reading =
  | { outcome: 'accepted'; uuid: string | null; event: FeedbackEvent }
  | { outcome: 'ignored'; uuid: string | null }
  | { outcome: 'rejected'; uuid: string | null; errors: FieldError[] }

/**
 * Reads a delivery, flat or nested inside `event`. The event's name is checked first: other events are ignored without
 * further checks. `null` counts as absent. Errors never quote the payload: it may hold an e-mail address.
 */
export function readEvent(body: unknown): Reading {
  if (!isObject(body))
    return {
      outcome: 'rejected',
      uuid: null,
      errors: [wrongType('', { expected: 'an object', value: body })],
    }
  const [sent, prefix] = isObject(body.event) ? [body.event, '/event'] : [body, '']
  const uuid = typeof sent.uuid === 'string' && sent.uuid !== '' ? sent.uuid : null
  if (typeof sent.event === 'string' && sent.event !== FEEDBACK_SUBMITTED) return { outcome: 'ignored', uuid }

  const properties = isObject(sent.properties) ? sent.properties : undefined
  const errors = [
    textError(sent.event, `${prefix}/event`),
    textError(sent.distinct_id, `${prefix}/distinct_id`),
    textError(sent.timestamp, `${prefix}/timestamp`) ?? timestampError(sent.timestamp, `${prefix}/timestamp`),
    ...(properties
      ? [
          textError(properties.sentiment, `${prefix}/properties/sentiment`) ??
            sentimentError(properties.sentiment, `${prefix}/properties/sentiment`),
          textError(properties.trigger, `${prefix}/properties/trigger`),
          textError(properties.app_version, `${prefix}/properties/app_version`),
        ]
      : [objectError(sent.properties, `${prefix}/properties`)]),
  ].filter((error) => error !== undefined)
  if (!properties || errors.length > 0) return { outcome: 'rejected', uuid, errors }
  return { outcome: 'accepted', uuid, event: eventOf(sent, { properties, uuid }) }
}

/** The deduplication key: the sender's identifier, otherwise all of the event's content. */
export function dedupKeyOf({ uuid, distinctId, timestamp, properties }: FeedbackEvent): string {
  const identity = uuid === null ? [FEEDBACK_SUBMITTED, distinctId, timestamp, properties] : [uuid]
  return hash('sha256', canonical(identity))
}

/** A text, number or boolean as trimmed text; undefined if absent or blank. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined
}

/** When the feedback was given, in UTC with milliseconds. */
export const occurredAt = ({ timestamp }: Pick<FeedbackEvent, 'timestamp'>) =>
  new Date(withColon(timestamp)).toISOString()

/** Cast: all checks have passed, so the values have the interface's types. */
function eventOf(
  sent: Members,
  { properties, uuid }: { properties: Members; uuid: string | null },
): FeedbackEvent {
  return {
    uuid,
    distinctId: sent.distinct_id as string,
    timestamp: sent.timestamp as string,
    sentiment: properties.sentiment as Sentiment,
    trigger: properties.trigger as string,
    appVersion: properties.app_version as string,
    properties,
  }
}

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const missing = (path: string): FieldError => ({ path, code: 'required', message: 'is required' })

const wrongType = (path: string, { expected, value }: { expected: string; value: unknown }): FieldError => ({
  path,
  code: 'wrong_type',
  message: `must be ${expected}, not ${kindOf(value)}`,
})

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function textError(value: unknown, path: string): FieldError | undefined {
  if (value === undefined || value === null) return missing(path)
  if (typeof value !== 'string') return wrongType(path, { expected: 'a string', value })
  return value.trim() === '' ? { path, code: 'too_short', message: 'must not be blank' } : undefined
}

function objectError(value: unknown, path: string): FieldError {
  return value === undefined || value === null
    ? missing(path)
    : wrongType(path, { expected: 'an object', value })
}

function sentimentError(value: unknown, path: string): FieldError | undefined {
  if (Sentiment.some((known) => known === value)) return undefined
  return { path, code: 'not_allowed', message: `must be one of ${Sentiment.join(', ')}` }
}

/** The year is checked in the sender's time zone: in UTC it may be the year 0 or 10000. */
function timestampError(value: unknown, path: string): FieldError | undefined {
  const time = withColon(String(value))
  const isValid = isDateTime(time.replace(OFFSET, 'Z')) && !Number.isNaN(Date.parse(time))
  if (isValid) return undefined
  const message = 'must be an ISO 8601 date and time with an offset, such as 2026-11-21T08:15:30.000Z'
  return { path, code: 'wrong_format', message }
}

const OFFSET = /(?:[zZ]|[+-]\d{2}:\d{2})$/
const withColon = (time: string) => time.trim().replace(/([+-]\d{2})(\d{2})$/, '$1:$2')

/** Serializes a value independently of the order of its members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`
}
