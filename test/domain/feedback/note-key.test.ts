import { describe, expect, test } from 'vitest'
import { noteKeyOf } from '../../../src/domain/feedback/note-key.ts'

const KEY = noteKeyOf('The export button does nothing.')

describe('the key of a note', () => {
  test.each([
    'the EXPORT button does nothing',
    '  The export\n\tbutton – does “nothing”!!! ',
    'The\u00a0export button does\u200b nothing…',
    'Ｔｈｅ export button does nothing.',
  ])('is the same for %j', (note) => {
    expect(KEY).toMatch(/^[\w-]{22}$/)
    expect(noteKeyOf(note)).toBe(KEY)
  })

  test.each(['The export button does something.', 'The export button does nothing. Really.'])(
    'is another for %j',
    (note) => {
      expect(noteKeyOf(note)).not.toBe(KEY)
      expect(noteKeyOf(note)).not.toBe(null)
    },
  )

  test.each([
    ['1.23', '12.3'],
    ['1.23', '123'],
    ['-5', '5'],
    ['1-2', '12'],
    ['1 - 2', '12'],
    ['.5', '5'],
    ['10, 20', '1020'],
    ['5²', '52'],
    ['1½', '112'],
  ])('tells numbers apart: %s and %s', (one, other) => {
    const keyOf = (number: string) => noteKeyOf(`The total of my order is ${number}, which is wrong.`)
    expect(keyOf(one)).not.toBe(keyOf(other))
    expect(noteKeyOf(`The total, of my order, is ${one} which is WRONG`)).toBe(keyOf(one))
  })

  test('needs 12 characters besides space and punctuation, in any script', () => {
    expect(noteKeyOf('It crashes!! ... now?')).not.toBe(null)
    expect(noteKeyOf('It crashes!! ... no?')).toBe(null)
    expect(noteKeyOf('应用程序在启动时崩溃了吗')).not.toBe(null)
    expect(noteKeyOf('👍👍👍👍👍👍👍👍👍👍👍')).toBe(null)
    expect(noteKeyOf('👍👍👍👍👍👍👍👍👍👍👍👍')).not.toBe(null)
  })

  test.each([undefined, null, 5, '', {}, 'x'.repeat(65_537)])('is absent for others', (note) => {
    expect(noteKeyOf(note)).toBe(null)
  })
})
