import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textReplacer } from '../../src/lib/replace-texts.ts'

describe('texts', () => {
  test.each([
    [['ann@x.org'], 'Mail Ann@X.org, ann@x.organ', 'Mail *, *an'],
    [['jane@x.org', 'jane@x.org.uk'], 'jane@x.org.uk jane@x.org', '* *'],
    [['abcd', 'bc'], 'abce abcd', 'a*e *'],
    [['abc', 'cde'], 'abcde', '*'],
    [['aa'], 'aaaaa', '*'],
    [['ÉTÉ'], 'été Été', '* *'],
    [['ſs'], 'SS', '*'],
    [['i̇'], 'İ x', 'İ x'],
    [['😀b'], 'a😀Bc', 'a*c'],
    [[], 'abc', 'abc'],
  ])('%j are replaced wherever they stand, in any case', (texts, text, expected) => {
    expect(textReplacer(texts, '*')(text)).toBe(expected)
  })

  test('are all found: none of them is left', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'B', 'c'), minLength: 1, maxLength: 4 })
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'c', ' '), maxLength: 40 })
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1 }), text, (texts, text) => {
        const left = textReplacer(texts, '*')(text).toLowerCase()
        for (const each of texts) expect(left).not.toContain(each.toLowerCase())
        if (!texts.some((each) => text.toLowerCase().includes(each.toLowerCase())))
          expect(textReplacer(texts, '*')(text)).toBe(text)
      }),
    )
  })

  test('that are long and nearly alike cost no more than a walk over the text', () => {
    const texts = Array.from({ length: 50 }, (_, n) => `${'a'.repeat(300)}${n}`)
    const walk = (length: number) => {
      const text = 'a'.repeat(length)
      const replace = textReplacer(texts, '*')
      const since = performance.now()
      expect(replace(text)).toBe(text)
      return performance.now() - since
    }
    walk(100_000)
    // A try at each place would take 50 x 300 comparisons for each of them: minutes.
    expect(walk(1_000_000)).toBeLessThan(5_000)
  })
})
