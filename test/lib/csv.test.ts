import { expect, test } from 'vitest'
import { csvLine } from '../../src/lib/csv.ts'

test('cells are separated by commas, and lines end with CR and LF', () => {
  expect(csvLine(['a', 1, true, null, '', 'ü 😀'])).toBe('a,1,true,,,ü 😀\r\n')
})

test.each([
  ['a "quote"', '"a ""quote"""'],
  ['one, two', '"one, two"'],
  ['one;two', '"one;two"'],
  ['one\ntwo\r\nthree', '"one\ntwo\r\nthree"'],
  [' spaced ', '" spaced "'],
])('%j is quoted', (text, cell) => {
  expect(csvLine([text])).toBe(`${cell}\r\n`)
})

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '＋1', '－1', '＠a'])(
  '%s is text and no formula',
  (text) => {
    expect(csvLine([text])).toBe(`'${text}\r\n`)
  },
)

test.each(['\t=1', '\r=1', '\n=1', '=HYPERLINK("https://example.com";"x")'])('%j is quoted text', (text) => {
  expect(csvLine([text])).toBe(`"'${text.replaceAll('"', '""')}"\r\n`)
})

test('numbers keep their sign', () => {
  expect(csvLine([-1, 1.5])).toBe('-1,1.5\r\n')
})
