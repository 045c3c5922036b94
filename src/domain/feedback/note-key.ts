import { hash } from 'node:crypto'
import { MAX_NOTE_BYTES } from './limits.ts'

/** Shorter notes, such as "It crashes.", are often about different problems. */
const MIN_LENGTH = 12
/** 132 bits of the hash, for an index of few bytes. */
const KEY_LENGTH = 22

/**
 * A key that is the same for notes that differ only in case, space, and punctuation, except those of numbers. Null for
 * a note that is too short to compare, or too long to be stored whole.
 */
export function noteKeyOf(note: unknown): string | null {
  if (typeof note !== 'string' || Buffer.byteLength(note) > MAX_NOTE_BYTES) return null
  const text = note.replace(COMPATIBLE, compose).toLowerCase().replace(IGNORED, ofNumber)
  return [...text].length < MIN_LENGTH ? null : hash('sha256', text, 'base64url').slice(0, KEY_LENGTH)
}

/** All but superscripts, fractions, and their like: 5² is not 52. */
const COMPATIBLE = /\P{No}+/gu

const compose = (text: string) => text.normalize('NFKC')

/** Punctuation, separators, and control and format characters. */
const IGNORED = /[\p{P}\p{Z}\p{C}]+/gu

/** What stays of ignored characters: between digits all, and before a digit a sign or point. 1.23 is not 12.3. */
// biome-ignore lint/complexity/useMaxParams: the signature of a replacer.
function ofNumber(ignored: string, at: number, text: string): string {
  if (!/^\p{N}/u.test(text.slice(at + ignored.length, at + ignored.length + 2))) return ''
  if (/\p{N}$/u.test(text.slice(Math.max(0, at - 2), at))) return ignored.trim() || ' '
  const sign = /[-–.,]+$/.exec(ignored)?.[0] ?? ''
  return at === 0 || sign.length < ignored.length ? sign : ''
}
