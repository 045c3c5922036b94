import { distinctIgnoringCase } from '../lib/distinct-ignoring-case.ts'
import type { Destination } from '../repositories/lists.ts'
import type { TaskRow } from '../repositories/tasks.ts'
import type { TaskPriority } from '../schemas/task.ts'
import { firstBytes } from './feedback-body.ts'
import { type FeedbackEvent, occurredAt, textOf } from './feedback-event.ts'
import { type ActorRef, newTaskRow } from './new-task.ts'

/** Who the record names: the platform has no key of its own. */
export const ANALYTICS: ActorRef = { type: 'analytics', id: null, name: 'Analytics' }

/** The row of the task that an event becomes. */
export function feedbackTaskRow(id: string, at: Date, event: FeedbackEvent, where: Destination): TaskRow {
  const hide = hiderOf(event)
  const input = {
    title: titleOf(event, hide),
    description: descriptionOf(event, hide),
    priority: PRIORITIES[event.sentiment],
    labels: labelsOf(event, hide),
    metadata: {
      distinctId: event.distinctId,
      occurredAt: occurredAt(event),
      properties: event.properties,
    },
  }
  return newTaskRow(id, at, input, where, ANALYTICS)
}

const PRIORITIES: Record<FeedbackEvent['sentiment'], TaskPriority> = {
  frustrated: 'high',
  meh: 'medium',
  loved: 'low',
}

const TITLE_LENGTH = 120
const LABEL_LENGTH = 100
const DESCRIPTION_BYTES = 262_144
/** Only where a description is cut anyway: so much of each value. */
const VALUE_LENGTH = 1_000

/** The first line of the note that says anything, else what kind of feedback it is and where it comes from. */
export function titleOf(event: FeedbackEvent, hide = hiderOf(event)): string {
  const { sentiment, appVersion, properties } = event
  const [first, second = ''] = (textOf(properties.note) ?? '').split(LINE_BREAK).map(oneLine).filter(Boolean)
  const spoken = first && withShortLinks(hide(first), hide(second))
  const from = [textOf(properties.surface), appVersion.trim()].filter(Boolean).join(' ')
  const made = `${sentiment[0]?.toUpperCase()}${sentiment.slice(1)} feedback from ${oneLine(from)}`
  return cutOnWord(spoken ?? hide(made), TITLE_LENGTH)
}

/** A line that has no room for its links keeps their hosts, and borrows the next line's words where it has none. */
function withShortLinks(line: string, next: string): string {
  if ([...line].length <= TITLE_LENGTH) return line
  const short = line.replace(LINK, (link, host) => (link.length > LINK_LENGTH ? `${host}/…` : link))
  return line.replace(LINK, '').trim() === '' ? `${short} ${next}`.trim() : short
}

const LINK = /https?:\/\/(?:[^\s/?#@]*@)?([^\s/?#@]+)\S*/gi
const LINK_LENGTH = 40

function labelsOf(event: FeedbackEvent, hide: Hide): string[] {
  const trigger = [...oneLine(hide(event.trigger))].slice(0, LABEL_LENGTH).join('').trim()
  return distinctIgnoringCase([event.sentiment, trigger].filter(Boolean))
}

/** The note, and a table of everything else but the address of who wrote it. */
export function descriptionOf(event: FeedbackEvent, hide = hiderOf(event)): string {
  const note = noteOf(event, hide)
  const properties = Object.entries(event.properties).filter(isTold)
  const whole = wholeDescription(asMarkdown(note), properties, hide)
  if (whole !== undefined) return whole

  const forNote = Math.min(Buffer.byteLength(note), DESCRIPTION_BYTES / 2)
  const short = (text: string) => shortened(hide(text))
  const lines = linesWithin(DESCRIPTION_BYTES - forNote - 2 * FRAME_BYTES, properties, short)
  const said = joined(tableOf(lines), leftOut(properties.length - lines.length), CUT)
  const left = DESCRIPTION_BYTES - Buffer.byteLength(said) - FRAME_BYTES
  return joined(asMarkdown(firstBytes(note, left)), said)
}

/** Undefined where a description cannot hold all of it. */
function wholeDescription(note: string, properties: Property[], hide: Hide): string | undefined {
  const lines = linesWithin(DESCRIPTION_BYTES, properties, hide)
  if (lines.length < properties.length) return undefined
  const whole = joined(note, tableOf(lines))
  return Buffer.byteLength(whole) <= DESCRIPTION_BYTES ? whole : undefined
}

const CUT = 'This description was cut at 262,144 bytes. The whole feedback is in the metadata of the task.'
/** More than the fences of a note take, and more than the head of the table and what is said of a cut do. */
const FRAME_BYTES = 512

const leftOut = (count: number) =>
  count > 0 ? `${count} more ${count === 1 ? 'property is' : 'properties are'} not shown.` : ''

function noteOf(event: FeedbackEvent, hide: Hide): string {
  const { note } = event.properties
  if (typeof note !== 'string') return ''
  // A fence is longer than any row of backticks inside of it, so there is a longest row.
  const bounded = note.trim().replace(/`{65,}/g, `${'`'.repeat(64)}…`)
  return hide(bounded)
}

const joined = (...parts: string[]) => parts.filter(Boolean).join('\n\n')

type Property = [name: string, value: unknown]

const isTold = ([name, value]: Property) =>
  name !== 'user_email' && value !== null && !(name === 'note' && typeof value === 'string')

/** The lines of the first properties, as many as so many bytes hold; an event may have a hundred thousand. */
function linesWithin(bytes: number, properties: Property[], show: (text: string) => string): string[] {
  const lines: string[] = []
  let left = bytes
  for (const [name, value] of properties) {
    const shown = show(typeof value === 'string' ? value : jsonOf(value))
    const line = `| ${cellOf(show(name))} | ${cellOf(shown)} |`
    left -= Buffer.byteLength(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  return lines
}

const tableOf = (lines: string[]) => ['| Property | Value |', '| --- | --- |', ...lines].join('\n')

/** Text in a cell stays text: it ends neither the cell nor the row, and nothing in it is taken for Markdown or HTML. */
function cellOf(text: string): string {
  return (
    oneLine(text)
      .replace(/[\\`*~[\]|]/g, '\\$&')
      // Inside a word an underscore is no emphasis, and names of properties are full of them.
      .replace(/_(?:(?<![\p{L}\p{N}]_)|(?![\p{L}\p{N}]))/gu, '\\_')
      .replace(/&(?=#?\w+;)/g, '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  )
}

/** A note in which Markdown finds nothing is a paragraph; any other is fenced, so that it stays what was written. */
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
  const characters = [...text]
  if (characters.length <= length) return text
  const start = characters.slice(0, length - 1).join('')
  const end = characters[length - 1] === ' ' ? start.length : start.lastIndexOf(' ')
  return `${(end > 0 ? start.slice(0, end) : start).trimEnd()}…`
}

function shortened(text: string): string {
  const start = [...text.slice(0, 2 * VALUE_LENGTH)].slice(0, VALUE_LENGTH).join('')
  return start.length < text.length ? `${start}…` : text
}

type Hide = (text: string) => string

const HIDDEN = '[user_email]'
/** Nobody has so many; looking for more of them in a large event would take seconds. */
const MOST_ADDRESSES = 50

/** The address of who wrote it stands in the metadata only, also where the text itself repeats it. */
function hiderOf({ properties }: FeedbackEvent): Hide {
  const addresses = [...new Set(addressesIn(properties))]
  if (addresses.length === 0) return (text) => text
  if (addresses.length > MOST_ADDRESSES) return () => HIDDEN
  // The longest first: it may begin with a shorter one.
  const literals = addresses
    .sort((a, b) => b.length - a.length)
    .map((address) => address.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  const anyOfThem = new RegExp(literals.join('|'), 'giu')
  return (text) => text.replace(anyOfThem, HIDDEN)
}

/** Whatever is called `user_email`, at any depth. What is very short or long is no address, and would be found anywhere. */
function* addressesIn(value: unknown, isAddress = false): Generator<string> {
  if (typeof value === 'string') {
    const address = isAddress ? value.trim() : ''
    if (address.length > 3 && address.length <= 320) yield address
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      if (isAddress || name === 'user_email' || typeof member === 'object')
        yield* addressesIn(member, isAddress || name === 'user_email')
  }
}

/** JSON without the members that hold an address. */
const jsonOf = (value: unknown) =>
  JSON.stringify(value, (name, member) => (name === 'user_email' ? undefined : member)) ?? ''
