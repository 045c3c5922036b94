import { hash } from 'node:crypto'
import { MAX_NOTE_BYTES } from './limits.ts'

/** Shorter notes, such as "It crashes.", are often about different problems. */
const MIN_LENGTH = 12
/** 132 bits of the hash, for an index of few bytes. */
const KEY_LENGTH = 22

/**
 * A key that is the same for notes that differ only in case, space, and punctuation. Null for a note that is too short to
 * compare, or too long to be stored whole.
 */
export function noteKeyOf(note: unknown): string | null {
  if (typeof note !== 'string' || Buffer.byteLength(note) > MAX_NOTE_BYTES) return null
  const text = note.normalize('NFKC').toLowerCase().replace(IGNORED, '')
  return [...text].length < MIN_LENGTH ? null : hash('sha256', text, 'base64url').slice(0, KEY_LENGTH)
}

/** Punctuation, separators, and control and format characters. */
const IGNORED = /[\p{P}\p{Z}\p{C}]+/gu
