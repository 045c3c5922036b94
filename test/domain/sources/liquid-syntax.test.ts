import { describe, expect, test } from 'vitest'
import { parseDefinition } from '../../../src/domain/sources/templates.ts'

const definitionOf = (given: { filter?: string; title?: string }) => ({
  each: null,
  clears: [],
  filter: given.filter ?? null,
  template: { title: given.title ?? 'T' },
})

function errorOf(given: { filter?: string; title?: string }): string | undefined {
  const result = parseDefinition(definitionOf(given))
  return 'errors' in result ? result.errors[0]?.message : undefined
}

const use = (written: string, instead: string) => `"${written}" is not an operator of Liquid. Use ${instead}.`

const OPERATORS: [string, string, string][] = [
  ['payload.level == "error" AND payload.n == 9', 'AND', 'and'],
  ['payload.a OR payload.b', 'OR', 'or'],
  ['payload.a && payload.b', '&&', 'and'],
  ['payload.a || payload.b', '||', 'or'],
  ['payload.a = "x"', '=', '=='],
  ['payload.a === "x"', '===', '=='],
  ['payload.a !== "x"', '!==', '!='],
  ['payload.a <> "x"', '<>', '!='],
  ['payload.a => 1', '=>', '>='],
  ['payload.a =< 1', '=<', '<='],
  ['payload.a eq "x"', 'eq', '=='],
  ['payload.a is "x"', 'is', '=='],
  ['!payload.a', '!', 'not'],
  ['NOT payload.a', 'NOT', 'not'],
  ['payload.a in payload.b', 'in', 'contains, with the list first'],
  ['payload.a matches "x"', 'matches', 'contains'],
  ['payload.a =~ /x/', '=~', 'contains'],
  ['payload.a xor payload.b', 'xor', 'one of ==, !=, <, <=, >, >=, contains, and, or'],
]

describe('a condition', () => {
  test.each(OPERATORS)('with an operator that Liquid does not know is refused: %s', (condition, ...names) => {
    expect(errorOf({ filter: condition })).toBe(use(...names))
    expect(errorOf({ title: `{% if ${condition} %}x{% endif %}` })).toBe(use(...names))
    expect(errorOf({ title: `{% if payload %}{% elsif ${condition} %}x{% endif %}` })).toBe(use(...names))
    expect(errorOf({ title: `{% unless ${condition} %}x{% endunless %}` })).toBe(use(...names))
    expect(errorOf({ title: `{% liquid\nif ${condition}\necho "x"\nendif %}` })).toBe(use(...names))
  })

  test.each([
    ['payload.a == 1, payload.b == 2', use(',', 'one of ==, !=, <, <=, >, >=, contains, and, or')],
    ['payload.a ==', 'A value is missing after "==".'],
    ['payload.a == 1 and', 'A value is missing after "and".'],
    ['== 1', 'A value is missing before "==".'],
    ['payload.a and or payload.b', 'A value is missing before "or".'],
    ['payload.a not in payload.b', '"not" must come before a value. Use != to compare, or "and not".'],
    ['(payload.a == 1) and payload.b', 'Parentheses are not supported in conditions.'],
    ['payload.a == “x”', '“ is not a quote in Liquid. Use " or \'.'],
    ['payload.a == "x', 'The closing quote of "x is missing.'],
    [
      'payload.a | size > 3',
      'A condition cannot continue after the filter size. Use {% assign %} first, or .size for a size.',
    ],
  ])('of which Liquid would ignore a part is refused: %s', (filter, message) => {
    expect(errorOf({ filter })).toBe(message)
  })

  test.each([
    'payload.a',
    'not payload.a and payload.b == -1.5',
    'payload.a == "x"and payload["b c"].d[0].size >= 2',
    "payload.a contains 'AND && = ||' or payload.b == empty",
    'payload.a != nil and payload.b == blank or payload.and == true',
    'payload.a == (1..3)',
    'payload.a | default: "x"',
    'item.a-b == payload.in',
  ])('that Liquid knows is accepted: %s', (filter) => {
    expect(errorOf({ filter })).toBeUndefined()
  })
})

describe('a template', () => {
  test.each([
    ['{{ payload.a payload.b }}', use('payload', 'one of ==, !=, <, <=, >, >=, contains, and, or')],
    ['{{ payload.a || "x" }}', use('||', 'or')],
    ['{% assign x = payload.a ? 1 : 2 %}', use('?', 'one of ==, !=, <, <=, >, >=, contains, and, or')],
    ['{% case payload.a AND payload.b %}{% endcase %}', use('AND', 'and')],
    [
      '{% case payload.a %}{% when "x" and "y" %}1{% endcase %}',
      '"and" is not supported here. Expected a comma, or "or".',
    ],
    [
      '{% for i in payload.a where i.b %}{% endfor %}',
      '"where" is not supported here. Expected limit:, offset:, or reversed.',
    ],
    ['{{ payload.a | join ", " }}', 'A colon is missing after the filter join: join: …'],
    ['{{ payload.a | where_exp: "x", "x.b AND x.c" | size }}', use('AND', 'and')],
    ['{% if payload.a %}{% elseif payload.b %}{% endif %}', 'tag "elseif" not found. Use {% elsif %}'],
    ['{% if payload.a %}{% else if payload.b %}{% endif %}', 'unexpected "if payload.b". Use {% elsif %}'],
  ])('of which Liquid would ignore a part is refused: %s', (title, message) => {
    expect(errorOf({ title })).toBe(message)
  })

  test.each([
    '{% comment %}{% if a AND b %}{% endcomment %}',
    '{% raw %}{{ a b }}{% if a && b %}{% endraw %}',
    '{% # a AND b %}{{- payload.a -}}',
    '{% for i in payload.a reversed limit: 2, offset: continue %}{{ i }}{% endfor %}',
    '{% case payload.a %}{% when "x", "y" or "or" %}1{% else %}2{% endcase %}',
    '{% assign x = payload.a == 1 or payload.b %}{% echo x %}{% tablerow i in (1..3) cols: 2 %}{% endtablerow %}',
    '{% capture c %}{{ payload.a | date: "%Y", "UTC" | append: "&&" }}{% endcapture %}{% increment n %}',
  ])('that Liquid reads whole is accepted: %s', (title) => {
    expect(errorOf({ title })).toBeUndefined()
  })
})
