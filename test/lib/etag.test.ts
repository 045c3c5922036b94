import { describe, expect, test } from 'vitest'
import { etagOf, etagOfContent, matchesEtag, versionsIn } from '../../src/lib/etag.ts'

test('a tag of content changes with the content alone', () => {
  expect(etagOfContent({ a: 1 })).toBe(etagOfContent({ a: 1 }))
  expect(etagOfContent({ a: 1 })).not.toBe(etagOfContent({ a: 2 }))
  expect(etagOfContent({ a: 1 }, { isWeak: true })).toBe(`W/${etagOfContent({ a: 1 })}`)
})

describe('If-None-Match', () => {
  test.each([
    [undefined, false],
    ['*', true],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b"', false],
    ['a', false],
  ])('%s names the tag "a": %s', (header, isMatch) => {
    expect(matchesEtag(header, '"a"')).toBe(isMatch)
    expect(matchesEtag(header, 'W/"a"')).toBe(isMatch)
  })
})

describe('If-Match', () => {
  test.each([
    [undefined, undefined],
    [' * ', undefined],
    [etagOf({ version: 3 }), [3]],
    ['"3", "4"', [3, 4]],
    ['W/"3"', []],
    ['"03"', []],
    ['"x"', []],
    ['3', 'invalid'],
    ['"3" "4"', 'invalid'],
    ['', 'invalid'],
  ])('%s allows the versions %j', (header, versions) => {
    expect(versionsIn(header)).toEqual(versions)
  })
})
