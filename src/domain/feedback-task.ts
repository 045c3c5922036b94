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
  const input = {
    title: titleOf(event),
    description: descriptionOf(event),
    priority: PRIORITIES[event.sentiment],
    labels: labelsOf(event),
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
export function titleOf(event: FeedbackEvent): string {
  const { sentiment, appVersion, properties } = event
  const spoken = (textOf(properties.note) ?? '').split(LINE_BREAK).map(oneLine).find(Boolean)
  const from = [textOf(properties.surface), appVersion.trim()].filter(Boolean).join(' ')
  const made = `${sentiment[0]?.toUpperCase()}${sentiment.slice(1)} feedback from ${oneLine(from)}`
  return cutOnWord(withoutAddress(spoken ?? made, event), TITLE_LENGTH)
}

function labelsOf(event: FeedbackEvent): string[] {
  const trigger = [...oneLine(withoutAddress(event.trigger, event))].slice(0, LABEL_LENGTH).join('').trim()
  return [...new Set([event.sentiment, trigger])].filter(Boolean)
}

/** The note, and a table of everything else but the address of who wrote it. */
export function descriptionOf(event: FeedbackEvent): string {
  const note = noteOf(event)
  const rows = rowsOf(event)
  const whole = joined(asMarkdown(note), tableOf(rows))
  if (Buffer.byteLength(whole) <= DESCRIPTION_BYTES) return whole

  const forNote = Math.min(Buffer.byteLength(note), DESCRIPTION_BYTES / 2)
  const short = rows.map(([name, value]) => [shortened(name), shortened(value)] as const)
  const shown = rowsWithin(short, DESCRIPTION_BYTES - forNote - 2 * FRAME_BYTES)
  const said = joined(tableOf(shown), leftOut(rows.length - shown.length), CUT)
  const left = DESCRIPTION_BYTES - Buffer.byteLength(said) - FRAME_BYTES
  return joined(asMarkdown(firstBytes(note, left)), said)
}

const CUT = 'This description was cut at 262,144 bytes. The whole feedback is in the metadata of the task.'
/** More than the fences of a note take, and more than the head of the table and what is said of a cut do. */
const FRAME_BYTES = 512

const leftOut = (count: number) =>
  count > 0 ? `${count} more ${count === 1 ? 'property is' : 'properties are'} not shown.` : ''

function noteOf(event: FeedbackEvent): string {
  const { note } = event.properties
  if (typeof note !== 'string') return ''
  // A fence is longer than any row of backticks inside of it, so there is a longest row.
  const bounded = note.trim().replace(/`{65,}/g, `${'`'.repeat(64)}…`)
  return withoutAddress(bounded, event)
}

const joined = (...parts: string[]) => parts.filter(Boolean).join('\n\n')

type Row = readonly [name: string, value: string]

function rowsOf(event: FeedbackEvent): Row[] {
  return Object.entries(event.properties)
    .filter(
      ([name, value]) =>
        name !== 'user_email' && value !== null && !(name === 'note' && typeof value === 'string'),
    )
    .map(([name, value]) => [
      withoutAddress(name, event),
      withoutAddress(typeof value === 'string' ? value : jsonOf(value), event),
    ])
}

function rowsWithin(rows: Row[], bytes: number): Row[] {
  let left = bytes
  const end = rows.findIndex((row) => {
    left -= Buffer.byteLength(lineOf(row)) + 1
    return left < 0
  })
  return end < 0 ? rows : rows.slice(0, end)
}

const tableOf = (rows: Row[]) => ['| Property | Value |', '| --- | --- |', ...rows.map(lineOf)].join('\n')

const lineOf = ([name, value]: Row) => `| ${cellOf(name)} | ${cellOf(value)} |`

/** Text in a cell stays text: it ends neither the cell nor the row, and nothing in it is taken for Markdown or HTML. */
function cellOf(text: string): string {
  return (
    oneLine(text)
      .replace(/[\\`*~[\]|]/g, '\\$&')
      // Inside a word an underscore is no emphasis, and names of properties are full of them.
      .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
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

/** The address of who wrote it stands in the metadata only, also where the text itself repeats it. */
function withoutAddress(text: string, { properties }: FeedbackEvent): string {
  const addresses = addressPatternOf(properties)
  return addresses ? text.replace(addresses, '[user_email]') : text
}

/** Made once an event: an event of a thousand properties has thousands of texts. */
const patterns = new WeakMap<object, RegExp | undefined>()

function addressPatternOf(properties: FeedbackEvent['properties']): RegExp | undefined {
  if (!patterns.has(properties)) patterns.set(properties, patternOf(addressesIn(properties)))
  return patterns.get(properties)
}

function patternOf(addresses: string[]): RegExp | undefined {
  if (addresses.length === 0) return undefined
  // The longer ones first: of two that begin alike, a text holds the one that fits it most.
  const literals = [...new Set(addresses)]
    .sort((a, b) => b.length - a.length)
    .map((address) => address.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return new RegExp(literals.join('|'), 'giu')
}

/** Whatever is called `user_email`, at any depth. What is very short or long is no address, and would be found anywhere. */
function addressesIn(value: unknown, isAddress = false): string[] {
  if (typeof value === 'string') {
    const address = value.trim()
    return isAddress && address.length > 3 && address.length <= 320 ? [address] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    addressesIn(member, isAddress || name === 'user_email'),
  )
}

/** JSON without the members that hold an address. */
const jsonOf = (value: unknown) =>
  JSON.stringify(value, (name, member) => (name === 'user_email' ? undefined : member)) ?? ''
