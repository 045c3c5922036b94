import type { Schema } from '../api/client.ts'
import { firstCharacters } from '../lib/first-characters.ts'

const MAX_NOTE = 140

/** The title of feedback: sentiment and note if it has them. */
export function summaryOf(
  { senderId, outcome }: Pick<Schema<'Delivery'>, 'senderId' | 'outcome'>,
  payload: unknown,
): string {
  const body = (payload ?? {}) as { event?: unknown; properties?: Record<string, unknown> }
  const nested = (body.event ?? {}) as { event?: unknown; properties?: Record<string, unknown> }
  const properties = body.properties ?? nested.properties ?? {}
  const name = typeof body.event === 'string' ? body.event : nested.event
  const note = typeof properties.note === 'string' ? shortened(properties.note) : undefined
  const sentiment = typeof properties.sentiment === 'string' ? properties.sentiment : undefined
  if (note) return sentiment ? `${sentiment}: ${note}` : note
  if (sentiment) return `${sentiment}, no note`
  return String(name ?? senderId ?? (outcome === 'ignored' ? 'Another event' : 'An event'))
}

function shortened(note: string): string {
  const first = firstCharacters(note, MAX_NOTE)
  return first.length < note.length ? `${first}…` : first
}
