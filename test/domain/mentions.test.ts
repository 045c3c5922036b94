import { expect, test } from 'vitest'
import { mentionsIn } from '../../src/domain/mentions.ts'

test.each([
  ['Ask @ada.', ['ada']],
  ['@ada, @bob-2 and @Ada (@ada)', ['ada', 'bob-2']],
  ['**@ada**, [see @bob](https://example.com/@eve)', ['ada', 'bob']],
  ['ada@example.com, @ada@example.com, a.@ada, é@ada, /@ada, @ada_b, @adaé', []],
  [`@a and @${'a'.repeat(40)}`, []],
  ['`@ada` and ``@bob ` @eve`` and @carl', ['carl']],
  ['An open ` then @ada', ['ada']],
  ['An escaped \\`@ada\\`, and `\\`@bob', ['bob']],
  ['A code `span\n@ada` over lines, but `not\n\n@bob` over paragraphs', ['bob']],
  ['```ts\n@ada\n```\n@bob', ['bob']],
  ['~~~~\n@ada\n~~~\n@eve\n~~~~~\n@bob', ['bob']],
  ['> ```\n> @ada\n> ```\n> @bob', ['bob']],
  ['- item\n  ```\n  @ada\n  ```\n\n@bob', ['bob']],
  ['```\n@ada', []],
  ['```not a fence` @ada', ['ada']],
  ['@ada\r\n```\r\n@eve\r\n```\r\n@bob', ['ada', 'bob']],
])('%j mentions %j', (text, names) => {
  expect(mentionsIn(text)).toEqual(names)
})

test('a hostile text is read in time', () => {
  const start = performance.now()
  for (const part of ['`', '` ', '\\`', '``` `` ` ', '@', '@a', '~~~\n', '> > ', '@ada '])
    mentionsIn(part.repeat(262_144 / part.length))
  mentionsIn(Array.from({ length: 700 }, (_, length) => '`'.repeat(length)).join(' '))
  expect(performance.now() - start).toBeLessThan(3_000)
})
