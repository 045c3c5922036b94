import { distinctIgnoringCase } from '../../lib/distinct-ignoring-case.ts'
import { textReplacer } from '../../lib/replace-texts.ts'
import { truncateUtf8 } from '../../lib/truncate-utf8.ts'
import { isDateTime, MAX_RECEIVED_BYTES } from '../../schemas/formats.ts'
import type { TaskPriority } from '../../schemas/task.ts'
import type { NewTaskInBulk } from '../../schemas/task-requests.ts'
import { type ActorRef, newTask, originIn } from '../new-task.ts'
import type { CreationPlace, StoredTask } from '../task.ts'
import { type FeedbackEvent, occurredAt, textOf } from './event.ts'
import { type LimitedProperties, limitProperties, MAX_NOTE_BYTES } from './limits.ts'
import { noteKeyOf } from './note-key.ts'
import { capitalized } from './summary.ts'

/** The actor in the activity log: the analytics platform has no API key. */
export const ANALYTICS: ActorRef = { type: 'analytics', id: null, name: 'Analytics' }

/** The task fields derived from an event. */
export type FeedbackTask = Required<
  Pick<NewTaskInBulk, 'title' | 'description' | 'priority' | 'labels' | 'metadata'>
> & {
  /** When the feedback was given, by the sender's clock. */
  openedAt: string
  /** The same for equal notes. */
  noteKey: string | null
}

/** Builds the stored task of an event. */
export const newFeedbackTask = (
  { openedAt, noteKey, ...task }: FeedbackTask,
  creation: { id: string; now: Date; destination: CreationPlace },
): StoredTask => ({
  ...newTask(task, { ...creation, actor: ANALYTICS, origin: originIn('analytics') }),
  noteKey,
  // A sender's clock that is ahead would keep its feedback at the top; in UTC, the year may be 0 or 10000.
  openedAt: isDateTime(openedAt) && new Date(openedAt) < creation.now ? new Date(openedAt) : creation.now,
})

/** Builds the task of an event. Its size and the time it takes are bounded for every event. */
export function feedbackTask(event: FeedbackEvent): FeedbackTask {
  const redact = redactorOf(event)
  const limited = limitProperties(event.properties)
  return {
    title: titleOf(event, redact),
    description: descriptionOf(event, { redact, limited }),
    priority: PRIORITIES[event.sentiment],
    labels: labelsOf(event, redact),
    metadata: {
      distinctId: shortened(event.distinctId),
      occurredAt: occurredAt(event),
      properties: limited.properties,
    },
    openedAt: occurredAt(event),
    noteKey: noteKeyOf(event.properties.note),
  }
}

const PRIORITIES: Record<FeedbackEvent['sentiment'], TaskPriority> = {
  frustrated: 'high',
  meh: 'medium',
  loved: 'low',
}

const MAX_TITLE_LENGTH = 120
const MAX_LABEL_LENGTH = 100
/** Maximum length of a value, applied only when a description is truncated. */
const MAX_VALUE_LENGTH = 1_000

/** The first non-empty line of the note; without a note, the sentiment and the surface it was sent from. */
export function titleOf(event: FeedbackEvent, redact = redactorOf(event)): string {
  const { sentiment, appVersion, properties } = event
  const note = redactedNote(textOf(properties.note) ?? '', redact)
  const [first, second = ''] = note.split(LINE_BREAK).map(oneLine).filter(Boolean)
  const noteTitle = first && withShortLinks(first, second)
  const from = [textOf(properties.surface) ?? '', appVersion.trim()].filter(Boolean).map(shortened).join(' ')
  const fallback = `${capitalized(sentiment)} feedback from ${oneLine(from)}`
  return cutOnWord(noteTitle ?? redact(fallback), MAX_TITLE_LENGTH)
}

/**
 * Shortens the links of a line that is too long to their hosts. A line of links only is followed by the next line's
 * text.
 */
function withShortLinks(line: string, next: string): string {
  if (line.length <= MAX_TITLE_LENGTH) return line
  const short = line.replace(LINK, (link, host) => (link.length > MAX_LINK_LENGTH ? `${host}/…` : link))
  return line.replace(LINK, '').trim() === '' ? `${short} ${next}`.trim() : short
}

const LINK = /https?:\/\/(?:[^\s/?#@]*@)?([^\s/?#@]+)\S*/gi
const MAX_LINK_LENGTH = 40

function labelsOf(event: FeedbackEvent, redact: Redact): string[] {
  const trigger = [...oneLine(redact(shortened(event.trigger)))].slice(0, MAX_LABEL_LENGTH).join('').trim()
  return distinctIgnoringCase([event.sentiment, trigger].filter(Boolean))
}

/** The note, and a table of all other properties except the sender's e-mail address. */
export function descriptionOf(
  event: FeedbackEvent,
  {
    redact = redactorOf(event),
    limited: { properties: limited, omitted, isNoteCut } = limitProperties(event.properties),
  }: { redact?: Redact | undefined; limited?: LimitedProperties | undefined } = {},
): string {
  const note = noteOf(event, redact)
  const properties = Object.entries(limited).filter(isShown)
  const isCut = omitted > 0 || isNoteCut
  const whole = isCut ? undefined : wholeDescription(asMarkdown(note), { properties, redact })
  if (whole !== undefined) return whole

  const forNote = Math.min(Buffer.byteLength(note), MAX_RECEIVED_BYTES / 2)
  const short = (text: string) => shortened(redact(text))
  const lines = linesWithin(MAX_RECEIVED_BYTES - forNote - 2 * FRAME_BYTES, { properties, show: short })
  const missing = properties.length - lines.length + omitted
  const rest = joined(tableOf(lines), omissionOf(missing), isCut ? CUT : CUT_HERE)
  const left = MAX_RECEIVED_BYTES - Buffer.byteLength(rest) - FRAME_BYTES
  return joined(asMarkdown(truncateUtf8(note, left)), rest)
}

/** Returns undefined if the result exceeds the maximum size of a description. */
function wholeDescription(
  note: string,
  { properties, redact }: { properties: Property[]; redact: Redact },
): string | undefined {
  const lines = linesWithin(MAX_RECEIVED_BYTES, { properties, show: redact })
  if (lines.length < properties.length) return undefined
  const whole = joined(note, tableOf(lines))
  return Buffer.byteLength(whole) <= MAX_RECEIVED_BYTES ? whole : undefined
}

const CUT_HERE =
  'This description was truncated at 262,144 bytes. The full feedback is in the metadata of the task.'
const CUT =
  'This task was truncated: it contains up to 1,000 properties and 64 KiB of the note. Its delivery keeps up to 256 KiB of the feedback for 30 days.'
/** Upper bound for the fences of a note, and for the table's header plus the truncation notice. */
const FRAME_BYTES = 512

const omissionOf = (count: number) =>
  count > 0 ? `${count} more ${count === 1 ? 'property is' : 'properties are'} not shown.` : ''

function noteOf(event: FeedbackEvent, redact: Redact): string {
  const { note } = event.properties
  if (typeof note !== 'string') return ''
  // A fence must be longer than any run of backticks inside it, so the length of a run is limited.
  return redactedNote(note.trim(), redact).replace(/`{65,}/g, `${'`'.repeat(64)}…`)
}

/** Redacts the note and truncates it. Redaction reads past the limit, so that no partial address remains at the cut. */
function redactedNote(note: string, redact: Redact): string {
  const start = note.slice(0, MAX_NOTE_BYTES + MAX_ADDRESS_LENGTH)
  const redacted = redact(start)
  const whole = start.length < note.length ? redacted.slice(0, -MAX_ADDRESS_LENGTH) : redacted
  const text = truncateUtf8(whole, MAX_NOTE_BYTES)
  return text.length < redacted.length ? `${text.trimEnd()}…` : text
}

const joined = (...parts: string[]) => parts.filter(Boolean).join('\n\n')

type Property = [name: string, value: unknown]

const isShown = ([name, value]: Property) =>
  name !== 'user_email' && value !== null && !(name === 'note' && typeof value === 'string')

/** Table lines of the first properties up to a byte limit. */
function linesWithin(
  bytes: number,
  { properties, show }: { properties: Property[]; show: (text: string) => string },
): string[] {
  const lines: string[] = []
  let left = bytes
  for (const [name, value] of properties) {
    const shown = show(typeof value === 'string' ? value : jsonOf(value))
    // Escaping takes long, and can only shorten white space.
    if (shown.length > left) break
    const line = `| ${cellOf(show(name))} | ${cellOf(shown)} |`
    left -= Buffer.byteLength(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  return lines
}

const tableOf = (lines: string[]) => ['| Property | Value |', '| --- | --- |', ...lines].join('\n')

/** Escapes a table cell, so that its text cannot end the cell or row and is not parsed as Markdown or HTML. */
function cellOf(text: string): string {
  return (
    oneLine(text)
      .replace(/[\\`*~[\]|]/g, '\\$&')
      // An underscore inside a word is not emphasis in Markdown, and property names contain many.
      .replace(/_(?:(?<![\p{L}\p{N}]_)|(?![\p{L}\p{N}]))/gu, '\\_')
      .replace(/&(?=#?\w+;)/g, '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  )
}

/** A note without Markdown syntax becomes a paragraph; any other is fenced, to be shown as written. */
function asMarkdown(note: string): string {
  if (note === '' || /^\p{L}[^\\`*_~[\]<>|&\p{Cc}\u2028\u2029]*$/u.test(note)) return note
  const fence = fenceOf(note)
  return `${fence}\n${note}\n${fence}`
}

function fenceOf(text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}

const LINE_BREAK = /\r\n|[\n\v\f\r\x85\u2028\u2029]/

const oneLine = (text: string) => text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim()

function cutOnWord(text: string, length: number): string {
  const characters = [...text.slice(0, 2 * length + 2)]
  if (characters.length <= length) return text
  const start = characters.slice(0, length - 1).join('')
  const end = characters[length - 1] === ' ' ? start.length : start.lastIndexOf(' ')
  return `${(end > 0 ? start.slice(0, end) : start).trimEnd()}…`
}

function shortened(text: string): string {
  const start = [...text.slice(0, 2 * MAX_VALUE_LENGTH)].slice(0, MAX_VALUE_LENGTH).join('')
  return start.length < text.length ? `${start}…` : text
}

type Redact = (text: string) => string

const REDACTED = '[user_email]'
const MAX_ADDRESS_LENGTH = 320
/** Above this number of distinct addresses, all texts are redacted whole. */
const MAX_ADDRESSES = 50

/** The sender's e-mail address is stored only in the metadata, so it is redacted in all other texts. */
function redactorOf({ properties }: FeedbackEvent): Redact {
  const addresses = new Set<string>()
  for (const address of addressesIn(properties)) {
    addresses.add(address)
    if (addresses.size > MAX_ADDRESSES) return () => REDACTED
  }
  return textReplacer([...addresses], REDACTED)
}

/**
 * All values of `user_email` at any depth. Very short or long values are skipped: they are not addresses, and a short
 * one would match everywhere.
 */
function* addressesIn(value: unknown, isAddress = false): Generator<string> {
  if (typeof value === 'string') {
    const address = isAddress ? value.trim() : ''
    if (address.length > 3 && address.length <= MAX_ADDRESS_LENGTH) yield address
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      if (isAddress || name === 'user_email' || typeof member === 'object')
        yield* addressesIn(member, isAddress || name === 'user_email')
  }
}

/** JSON without the `user_email` members. */
const jsonOf = (value: unknown) =>
  JSON.stringify(value, (name, member) => (name === 'user_email' ? undefined : member)) ?? ''
