import { describe, expect, test } from 'vitest'
import { readSourceDelivery } from '../../../src/domain/sources/reading.ts'
import { parseDefinition, type SourceDefinition } from '../../../src/domain/sources/templates.ts'

type Given = Partial<Omit<SourceDefinition, 'template'>> & { title?: string }

const definitionOf = ({ each = null, filter = null, title = 'T' }: Given): SourceDefinition => ({
  ...{ each, filter, clears: [] },
  template: { title },
})

const read = (given: Given, payload: unknown) =>
  readSourceDelivery({
    definition: definitionOf(given),
    bytes: Buffer.from(JSON.stringify(payload)),
    renderMs: 1_000,
  })

/** What a title renders to. */
function titleOf(title: string, payload: unknown = {}): string | undefined {
  const reading = read({ title: `[${title}]` }, payload)
  if (reading.outcome === 'rejected') return reading.errors[0]?.message
  return reading.outcome === 'accepted' ? reading.tasks[0]?.task.title : undefined
}

describe('a template', () => {
  test.each([
    ['payload.constructor', {}],
    ['payload.constructor.constructor', {}],
    ['payload.toString', {}],
    ['payload.hasOwnProperty', {}],
    ['payload.__proto__.polluted', {}],
    ['payload["__proto__"]', {}],
    ['payload.text.constructor', { text: 'x' }],
    ['payload.list.constructor', { list: [1] }],
    ['payload.list.map', { list: [1] }],
    ['payload.list | map: "constructor"', { list: [{}] }],
    ['payload.list | where: "constructor"', { list: [{}] }],
    ['payload.list | group_by: "constructor" | map: "name"', { list: [{}] }],
    ['constructor', {}],
    ['__proto__', {}],
    ['process', {}],
    ['process.env', {}],
    ['globalThis', {}],
    ['require', {}],
    ['payload[payload.key]', { key: 'constructor' }],
  ])('reads nothing but own members of the payload: %s', (expression, payload) => {
    expect(titleOf(`{{ ${expression} }}`, payload)).toBe('[]')
  })

  test('reads members that are named like those of prototypes, if the payload has them', () => {
    const payload = '{"constructor":"own","__proto__":{"x":"own too"}}'
    const reading = readSourceDelivery({
      definition: definitionOf({ title: '{{ payload.constructor }} {{ payload.__proto__.x }}' }),
      bytes: Buffer.from(payload),
      renderMs: 1_000,
    })
    expect(reading).toMatchObject({ outcome: 'accepted', tasks: [{ task: { title: 'own own too' } }] })
  })

  test.each(['include', 'render', 'layout', 'block', 'inline_template'])('cannot use the tag %s', (tag) => {
    const result = parseDefinition(definitionOf({ title: `{% ${tag} "/etc/passwd" %}` }))
    expect(result).toEqual({
      errors: [{ path: '/template/title', code: 'invalid_template', message: `tag "${tag}" not found` }],
    })
  })

  test.each([
    [
      'a loop',
      '{% for a in (1..30000) %}{% for b in (1..30000) %}{% assign c = b %}{% endfor %}{% endfor %}',
    ],
    ['a long range', '{% for a in (1..1000000000) %}{% endfor %}'],
    [
      'doubled text',
      '{% assign s = "xxxxxxxxxxxxxxxx" %}{% for i in (1..64) %}{% assign s = s | append: s %}{% endfor %}',
    ],
    [
      'a growing array',
      '{% assign a = "1,2,3,4,5,6,7,8" | split: "," %}{% for i in (1..64) %}{% assign a = a | concat: a %}{% endfor %}',
    ],
  ])('is ended by its limits: %s', (_, template) => {
    const before = performance.now()
    expect(titleOf(template)).toMatch(/limit exceeded|memory alloc/)
    expect(performance.now() - before).toBeLessThan(3_000)
  })

  test('is read with large numbers digit by digit', () => {
    const reading = readSourceDelivery({
      definition: definitionOf({ title: '{{ payload.id }}' }),
      bytes: Buffer.from('{"id":9007199254740993}'),
      renderMs: 1_000,
    })
    expect(reading).toMatchObject({ tasks: [{ task: { title: '9007199254740993' } }] })
  })

  test('formats times in UTC', () => {
    expect(titleOf('{{ payload.at | date: "%Y-%m-%d %H:%M" }}', { at: '2026-11-22T23:30:00-02:00' })).toBe(
      '[2026-11-23 01:30]',
    )
  })
})

describe('a definition', () => {
  test.each<[string, Given, object]>([
    ['an unknown filter', { title: '{{ payload.x | upcas }}' }, { path: '/template/title' }],
    ['an open tag', { title: '{% if payload.x %}' }, { path: '/template/title' }],
    ['an open output', { title: '{{ payload.x' }, { path: '/template/title' }],
    ['a condition that ends its tag', { filter: 'true %}{% endif %}{% if true' }, { path: '/filter' }],
    ['a condition with an output', { filter: '{{ payload.x }}' }, { path: '/filter' }],
  ])('does not parse with %s', (_, given, error) => {
    expect(parseDefinition(definitionOf(given))).toEqual({
      errors: [{ code: 'invalid_template', message: expect.any(String), ...error }],
    })
  })
})

describe('a filter', () => {
  test.each([
    ['payload.level == "error"', true],
    ['payload.level == "info"', false],
    ['payload.level contains "err" and payload.count > 2', true],
    ['payload.count > 2 or payload.missing', true],
    ['payload.missing', false],
    ['payload.missing.deeper.still', false],
    ['payload.tags contains "web"', true],
  ])('decides: %s', (filter, isAccepted) => {
    const { outcome } = read({ filter }, { level: 'error', count: 3, tags: ['web'] })
    expect(outcome).toBe(isAccepted ? 'accepted' : 'filtered')
  })

  test('that throws rejects the delivery', () => {
    const filter = 'payload.list | where_exp: "x", "x.y | nothing"'
    const reading = read({ filter }, { list: [{ y: 1 }] })
    expect(reading).toMatchObject({
      outcome: 'rejected',
      errors: [{ path: '/filter', message: expect.stringContaining('undefined filter') }],
    })
  })
})

describe('an item that makes no valid task', () => {
  const items = [{ t: 'a' }, {}, { t: 'c' }]

  test('is named, and spoils no other', () => {
    expect(read({ each: 'payload', title: '{{ item.t }}' }, items)).toMatchObject({
      outcome: 'accepted',
      tasks: [{ index: 0 }, { index: 2 }],
      errors: [{ path: '/template/title', message: 'item 1: rendered nothing' }],
    })
  })

  test('spoils no other when its template fails', () => {
    const title =
      '{% if item.t %}{{ item.t }}{% else %}{{ item.list | where_exp: "x", "x | nothing" }}{% endif %}'
    const reading = read({ each: 'payload', title }, [{ t: 'a' }, { list: [{ y: 1 }] }])
    expect(reading).toMatchObject({
      outcome: 'accepted',
      tasks: [{ index: 0 }],
      errors: [{ code: 'template_failed', message: expect.stringContaining('item 1: undefined filter') }],
    })
  })

  test.each<[string, Given]>([
    ['all are invalid', { title: '{{ item.u }}' }],
    ['the filter leaves out the others', { title: '{{ item.t }}', filter: 'item.t == nil' }],
  ])('rejects the delivery, if %s', (_, given) => {
    expect(read({ each: 'payload', ...given }, items)).toMatchObject({ outcome: 'rejected' })
  })
})

describe('a filter that reads no item', () => {
  test.each([
    ['payload.kind == "alert"'],
    ['payload.kind != "item" and payload.kind == "alert"'],
    ['payload.item.kind == "alert"'],
  ])('decides before the items are looked for: %s', (filter) => {
    expect(read({ filter, each: 'payload.alerts' }, { kind: 'ping' }).outcome).toBe('filtered')
  })

  test('rejects what has no items where it lets it through', () => {
    const reading = read({ filter: 'payload.kind', each: 'payload.alerts' }, { kind: 'ping' })
    expect(reading).toMatchObject({ outcome: 'rejected', errors: [{ path: '/alerts' }] })
  })
})
