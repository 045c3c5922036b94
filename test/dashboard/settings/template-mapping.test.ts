import { describe, expect, test } from 'vitest'
import {
  comparison,
  comparisonIn,
  type Mapping,
  type Member,
  mappingOf,
  movedTemplate,
  templateOf,
  withPart,
} from '../../../src/dashboard/settings/template-mapping.ts'

const parts = (...parts: Extract<Mapping, { kind: 'parts' }>['parts']): Mapping => ({ kind: 'parts', parts })

describe('a template', () => {
  test.for<[Member, string, Mapping]>([
    ['title', '{{ payload.title }}', parts({ path: ['payload', 'title'] })],
    ['title', '{{ payload["a }} b"] }}', parts({ path: ['payload', 'a }} b'] })],
    ['title', 'New message', parts({ text: 'New message' })],
    ['title', '', parts()],
    ['status', 'open', parts({ text: 'open' })],
    ['labels', 'sentry, {{ payload.level }}', parts({ text: 'sentry' }, { path: ['payload', 'level'] })],
    ['labels', '{{ payload.tags | join: "," }}', parts({ path: ['payload', 'tags'], list: true })],
    [
      'labels',
      '{{ payload.labels | map: "title" | join: "," }}',
      parts({ path: ['payload', 'labels'], list: 'title' }),
    ],
    ['title', '{{ payload.tags | join: ", " }}', parts({ path: ['payload', 'tags'], list: true })],
    [
      'description',
      '{{ item.text }}\n\n{{ item.trace }}',
      parts({ path: ['item', 'text'] }, { path: ['item', 'trace'] }),
    ],
    [
      'priority',
      '{% case item.labels.severity %}{% when "critical", "page" %}high{% when "info" %}low{% else %}medium{% endcase %}',
      {
        kind: 'words',
        path: ['item', 'labels', 'severity'],
        cases: [
          { result: 'high', words: ['critical', 'page'] },
          { result: 'low', words: ['info'] },
        ],
        otherwise: 'medium',
      },
    ],
    [
      'status',
      '{% if item.status == "resolved" %}done{% else %}open{% endif %}',
      {
        kind: 'words',
        path: ['item', 'status'],
        cases: [{ result: 'done', words: ['resolved'] }],
        otherwise: 'open',
      },
    ],
    [
      'priority',
      '{% if payload.urgent %}high{% endif %}',
      {
        kind: 'words',
        path: ['payload', 'urgent'],
        cases: [{ result: 'high', words: [true] }],
        otherwise: '',
      },
    ],
    [
      'priority',
      '{% case payload["a b"] %}{% when 1, -2.5, "\\u0025}", false %}high{% endcase %}',
      {
        kind: 'words',
        path: ['payload', 'a b'],
        cases: [{ result: 'high', words: [1, -2.5, '%}', false] }],
        otherwise: '',
      },
    ],
  ])('of %s, %j, is read and written', ([member, template, mapping]) => {
    expect(mappingOf(member, template)).toEqual(mapping)
    if (mapping.kind !== 'custom' && !template.includes('}} b'))
      expect(templateOf(member, mapping)).toBe(template)
  })

  test.for<[Member, string]>([
    ['title', '{{ payload.title | upcase }}'],
    ['title', '{{ payload.a }}: {{ payload.b }}'],
    ['title', 'Alert {{ payload.a }}'],
    ['title', '{{ payload.title'],
    ['title', '{% assign a = 1 %}'],
    ['title', '{% if payload.urgent %}high{% endif %}'],
    ['labels', 'a, b {{ payload.c }}'],
    ['externalUrl', '{{ item.panelURL | default: item.generatorURL }}'],
    ['priority', '{% if payload.a and payload.b %}high{% endif %}'],
    ['priority', '{% if payload.a == "x" or payload.b == "y" %}high{% endif %}'],
    ['priority', '{% if payload.a %}urgent{% endif %}'],
    ['priority', '{% if payload.a %}{% endif %}'],
    ['priority', '{% if payload.a %}high{% elsif payload.b %}low{% endif %}'],
    ['priority', '{% if payload.a %}high{% endif %}{% if payload.b %}low{% endif %}'],
    ['priority', '{% case payload.a %}{% when payload.b %}high{% endcase %}'],
    ['priority', '{% case payload.a %}{% else %}high{% endcase %}'],
    ['priority', '{% case payload.a %}{% when "x" %}high{% else %}low{% when "y" %}low{% endcase %}'],
    ['priority', '{% if payload.a %}high'],
  ])('of %s, %j, is custom', ([member, template]) => {
    expect(mappingOf(member, template)).toEqual({ kind: 'custom' })
  })

  test('written with other blanks is the same', () => {
    expect(mappingOf('labels', 'a,\n{{payload.b}}\n')).toEqual(
      parts({ text: 'a' }, { path: ['payload', 'b'] }),
    )
    expect(mappingOf('status', '{%if payload.a=="x"%}\n done {%else%} open\n{%endif%}\n')).toEqual(
      mappingOf('status', '{% if payload.a == "x" %}done{% else %}open{% endif %}'),
    )
  })

  test('without any word is what holds otherwise', () => {
    const words = { kind: 'words' as const, path: ['payload', 'a'] as const, cases: [], otherwise: 'medium' }
    expect(templateOf('priority', words)).toBe('medium')
    expect(templateOf('priority', { ...words, otherwise: '' })).toBe('')
  })
})

test('another value replaces the title, and is added to labels and the description, also to custom ones', () => {
  const part = { path: ['payload', 'b'] as const }
  expect(withPart('title', { template: '{{ payload.a }}', part })).toBe('{{ payload.b }}')
  expect(withPart('labels', { template: 'a | {{ payload.a }}', part })).toBe(
    'a | {{ payload.a }}, {{ payload.b }}',
  )
  expect(withPart('description', { template: ' ', part })).toBe('{{ payload.b }}')
  expect(withPart('description', { template: '{% if a %}b{% endif %}\n', part })).toBe(
    '{% if a %}b{% endif %}\n\n{{ payload.b }}',
  )
})

test('paths move with the array that a task is made for each of', () => {
  const move = (member: Member, template: string) =>
    movedTemplate(member, { template, from: '', to: 'payload.alerts' })
  expect(move('title', '{{ payload.alerts[0].title }}')).toBe('{{ item.title }}')
  expect(move('title', '{{ payload.title }}')).toBe('{{ payload.title }}')
  expect(move('title', '{{ payload.alerts[0].title | upcase }}')).toBe(
    '{{ payload.alerts[0].title | upcase }}',
  )
  expect(move('labels', 'alert,{{ payload.alerts[1].team }}')).toBe('alert, {{ item.team }}')
  expect(move('labels', 'a,b')).toBe('a,b')
  expect(move('status', '{% if payload.alerts[0].ok %}done{% endif %}')).toBe(
    '{% if item.ok %}done{% endif %}',
  )
  expect(movedTemplate('title', { template: '{{ item.title }}', from: 'payload.alerts', to: '' })).toBe(
    '{{ payload.alerts[0].title }}',
  )
})

test('a filter that compares one value is read and written', () => {
  const compared = { path: ['payload', 'action'] as const, word: 'opened' }
  expect(comparison(compared)).toBe('payload.action == "opened"')
  expect(comparisonIn(' payload.action == "opened" ')).toEqual(compared)
  expect(comparisonIn('payload.ok')).toEqual({ path: ['payload', 'ok'], word: true })
  expect(comparisonIn('payload.ok == false')).toEqual({ path: ['payload', 'ok'], word: false })
  expect(comparisonIn('payload.a == "x" and payload.b')).toBeUndefined()
  expect(comparisonIn('payload.a != "x"')).toBeUndefined()
})
