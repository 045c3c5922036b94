import type { Word } from './payload-path.ts'
import { type Member, RESULTS, type Words } from './template-mapping.ts'

/** Words that many systems use, and what they say about a task. */
const KNOWN: Partial<Record<Member, Record<string, readonly string[]>>> = {
  priority: {
    high: ['critical', 'fatal', 'emergency', 'urgent', 'severe', 'blocker', 'page', 'high', 'p0', 'p1'],
    medium: ['error', 'warning', 'warn', 'moderate', 'medium', 'normal', 'major', 'p2'],
    low: ['info', 'debug', 'minor', 'trivial', 'notice', 'none', 'low', 'p3', 'p4'],
  },
  status: {
    done: [
      'resolved',
      'closed',
      'done',
      'fixed',
      'completed',
      'ok',
      'up',
      'inactive',
      'recovered',
      'success',
    ],
    open: [
      'firing',
      'opened',
      'open',
      'triggered',
      'alerting',
      'down',
      'active',
      'new',
      'failed',
      'unresolved',
    ],
  },
}

/** The result of all words that are not listed, where some are. */
const OTHERWISE: Partial<Record<Member, string>> = { priority: 'medium', status: 'open' }

/** The word that follows in the end, if a task begins with this one. */
const CLOSING: Record<string, string> = {
  ...{ firing: 'resolved', triggered: 'resolved', unresolved: 'resolved' },
  ...{ open: 'closed', opened: 'closed', alerting: 'ok', down: 'up', active: 'inactive' },
}

/**
 * What the words of an example say about a task, as far as they are known. Undefined if each of them is what the
 * member needs already.
 */
export function guessWords(member: Member, values: unknown[]): Omit<Words, 'path'> | undefined {
  const results = RESULTS[member] ?? []
  const [first = ''] = results
  const words = distinctWords(values)
  if (words.length > 0 && words.every((word) => results.includes(folded(word)))) return undefined
  const otherwise = OTHERWISE[member] ?? ''
  if (words.length > 0 && words.every((word) => typeof word === 'boolean')) {
    return { cases: [{ result: first, words: [true] }], otherwise: member === 'status' ? otherwise : '' }
  }
  const all = member === 'status' ? [...words, ...words.flatMap(closingOf)] : words
  const cases = results
    .filter((result) => result !== otherwise)
    .map((result) => ({
      result,
      words: [...new Set(all.filter((word) => isKnown(word, { member, result })))],
    }))
  if (cases.some(({ words }) => words.length > 0)) return { cases, otherwise }
  // Where they belong is up to the user.
  return { cases: [{ result: otherwise, words }], otherwise: '' }
}

const isKnown = (word: Word, { member, result }: { member: Member; result: string }) =>
  KNOWN[member]?.[result]?.includes(folded(word)) ?? false

/** In the same case. */
function closingOf(word: Word): string[] {
  const closing = Object.hasOwn(CLOSING, folded(word)) ? CLOSING[folded(word)] : undefined
  if (closing === undefined || typeof word !== 'string') return []
  if (word === word.toUpperCase()) return [closing.toUpperCase()]
  return [/^\p{Lu}/u.test(word) ? closing.charAt(0).toUpperCase() + closing.slice(1) : closing]
}

const folded = (word: Word) => String(word).toLowerCase()

const NUMBER = /^-?\d+(\.\d+)?$/
const MAX_WORD_LENGTH = 100
const MAX_WORDS = 50

/** The values that a template can compare with, each once. */
export function distinctWords(values: unknown[]): Word[] {
  const words = values.filter(
    (value): value is Word =>
      typeof value === 'boolean' ||
      (typeof value === 'number' && NUMBER.test(String(value))) ||
      (typeof value === 'string' && value !== '' && value.length <= MAX_WORD_LENGTH),
  )
  return [...new Set(words)].slice(0, MAX_WORDS)
}

/** The words to choose from: those of the example, then for texts those that many systems use. */
export function suggestedWords(member: Member, values: unknown[]): string[] {
  const words = distinctWords(values)
  const isText = words.every((word) => typeof word === 'string')
  const known = isText ? Object.values(KNOWN[member] ?? {}).flat() : []
  return [...new Set([...words.map(String), ...known])]
}

/** A word as it was entered, as a value of the same type as in the example. */
export function enteredWord(text: string, values: unknown[]): Word {
  const isAny = (type: string) => values.some((value) => typeof value === type)
  if (isAny('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  return isAny('number') && NUMBER.test(text) ? Number(text) : text
}
