import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DiffPart, diffWords } from '../../../src/dashboard/lib/word-diff.ts'

describe('the diff of two texts', () => {
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
  ])('works word by word: %j, %j', (before, after, shown) => {
    expect(diffWords(before, after).map(marked).join('')).toBe(shown)
  })

  test('contains both texts', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ä', '👍', ' ', '\n', '  '))
      .map((words) => words.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const pieces = diffWords(before, after)
        expect(textOf(pieces, 'removed')).toBe(before)
        expect(textOf(pieces, 'added')).toBe(after)
        expect(pieces.every(({ kind }, index) => kind !== pieces[index + 1]?.kind)).toBe(true)
      }),
    )
  })

  test('keeps as many words as possible', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(words, words, (some, more) => {
        const all = [...some, ...more].join(' ')
        const kept = diffWords(some.join(' '), all).filter(({ kind }) => kind === 'removed')
        expect(kept).toEqual([])
      }),
    )
  })

  test('is one block only for long texts', () => {
    const words = (count: number) => Array.from({ length: count }, (_, index) => `${index}`).join(' ')
    // A space is a word as well.
    const [longest, tooLong] = [words(750), words(751)]
    expect(diffWords(longest, `${longest}!`).map(({ kind }) => kind)).toEqual(['same', 'removed', 'added'])
    expect(diffWords(tooLong, `${tooLong}!`)).toEqual([
      { kind: 'removed', text: tooLong },
      { kind: 'added', text: `${tooLong}!` },
    ])
  })
})

function marked({ kind, text }: DiffPart): string {
  const mark = { same: '', added: '+', removed: '-' }[kind]
  return `${mark}${text}${mark}`
}

function textOf(pieces: DiffPart[], side: 'added' | 'removed'): string {
  return pieces
    .filter(({ kind }) => kind === 'same' || kind === side)
    .map(({ text }) => text)
    .join('')
}
