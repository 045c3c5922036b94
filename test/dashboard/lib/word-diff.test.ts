import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { differencesOf, type Piece } from '../../../src/dashboard/lib/word-diff.ts'

describe('the differences of two texts', () => {
  test.each([
    ['', '', ''],
    ['the same', 'the same', 'the same'],
    ['', 'new text', '+new text+'],
    ['old text', '', '-old text-'],
    ['be short', 'be very short', 'be +very +short'],
    ['answer in one line', 'answer in two lines', 'answer in -one-+two+ -line-+lines+'],
    ['one two', 'one  two', 'one- -+  +two'],
    ['one\ntwo', 'one\n\ntwo', 'one-\n-+\n\n+two'],
    ['a b c', 'c a b', '+c +a b- c-'],
  ])('are told word by word: %j, %j', (before, after, shown) => {
    expect(differencesOf(before, after).map(marked).join('')).toBe(shown)
  })

  test('give back either text', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ä', '👍', ' ', '\n', '  '))
      .map((words) => words.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const pieces = differencesOf(before, after)
        expect(textOf(pieces, 'removed')).toBe(before)
        expect(textOf(pieces, 'added')).toBe(after)
        expect(pieces.every(({ kind }, index) => kind !== pieces[index + 1]?.kind)).toBe(true)
      }),
    )
  })

  test('keep as many words as they can', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(words, words, (some, more) => {
        const all = [...some, ...more].join(' ')
        const kept = differencesOf(some.join(' '), all).filter(({ kind }) => kind === 'removed')
        expect(kept).toEqual([])
      }),
    )
  })

  test('of long texts are one block, and those of all shorter ones are not', () => {
    const words = (count: number) => Array.from({ length: count }, (_, index) => `${index}`).join(' ')
    // A space is a word as well.
    const [longest, tooLong] = [words(750), words(751)]
    expect(differencesOf(longest, `${longest}!`).map(({ kind }) => kind)).toEqual([
      'same',
      'removed',
      'added',
    ])
    expect(differencesOf(tooLong, `${tooLong}!`)).toEqual([
      { kind: 'removed', text: tooLong },
      { kind: 'added', text: `${tooLong}!` },
    ])
  })
})

function marked({ kind, text }: Piece): string {
  const mark = { same: '', added: '+', removed: '-' }[kind]
  return `${mark}${text}${mark}`
}

function textOf(pieces: Piece[], side: 'added' | 'removed'): string {
  return pieces
    .filter(({ kind }) => kind === 'same' || kind === side)
    .map(({ text }) => text)
    .join('')
}
