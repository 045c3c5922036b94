import { Liquid } from 'liquidjs'
import { afterAll, describe, expect, test } from 'vitest'
import type { SourceDefinition } from '../../../src/domain/sources/templates.ts'
import { payloadReader } from '../../../src/services/sources/reader.ts'

const reader = payloadReader()
afterAll(() => reader.close())

const MIB = 1024 * 1024
const ASCII = 'Word <b>& '.repeat(MIB / 10)
const WIDE = '\u2603'.repeat(MIB / 3)
const MAX_TEMPLATE_LENGTH = 16_384

const bytesOf = (payload: unknown) => Buffer.from(JSON.stringify(payload))
const definitionOf = (title: string, each: string | null = null): SourceDefinition => ({
  ...{ each, filter: null, clears: [] },
  template: { title },
})

let sources = 0

/** Reads a delivery of a new source, and then one of another: what happens to the first must not matter to it. */
async function read(definition: SourceDefinition, bytes: Buffer) {
  const reading = await reader.read({ definition, bytes }, `source ${++sources}`)
  const next = { definition: definitionOf('{{ payload.a }}'), bytes: bytesOf({ a: 'Next' }) }
  expect(await reader.read(next, 'next')).toMatchObject({ tasks: [{ task: { title: 'Next' } }] })
  return reading
}

const repeated = (times: number, text: string) => `{% for i in (1..${times}) %}${text}{% endfor %}`
const captured = (text: string) => `{% capture x %}${text}{% endcapture %}`
const ARRAY = '{% assign a = payload.text | split: "none" %}'

describe('a template that makes more text than the heap holds fails, and the service goes on', () => {
  test.each([
    ['a text written many times', repeated(400, '{{ payload.text }}')],
    ['a text captured and searched', `${captured(repeated(400, '{{ payload.text }}'))}{{ x | slugify }}`],
    ['a text hashed', `${captured(repeated(400, '{{ payload.text }}'))}{{ x | sha256 }}`],
    ['a text as a name', `${captured(repeated(400, '{{ payload.text }}'))}{{ payload[x] }}`],
    ['a row of a table', `{% tablerow i in (1..400) %}{{ payload.text }}{% endtablerow %}`],
    ['a cycle', repeated(400, '{% cycle payload.text, payload.text %}')],
    ['an echo', repeated(400, '{% echo payload.text %}')],
    ['an array written', `${ARRAY}${repeated(9, '{% assign a = a | concat: a %}')}{{ a }}`],
    ['an array as a text', `${ARRAY}${repeated(9, '{% assign a = a | concat: a %}')}{{ a | upcase }}`],
    ['an array as a name', `${ARRAY}${repeated(9, '{% assign a = a | concat: a %}')}{{ payload[a] }}`],
    ['an array in itself', `${ARRAY}${repeated(9, '{% assign a = a | push: a %}')}{{ a }}`],
    [
      'members of an array',
      `${repeated(1, '{% assign a = payload.list %}')}${repeated(9, '{% assign a = a | concat: a %}')}{{ a | map: "text" }}`,
    ],
  ])('%s', async (_, title) => {
    const bytes = bytesOf({ text: ASCII.slice(0, MIB / 2), list: [{ text: ASCII.slice(0, MIB / 2) }] })
    expect(await read(definitionOf(title), bytes)).toMatchObject({
      outcome: 'rejected',
      errors: [{ path: '/template/title', code: 'template_failed', message: 'memory alloc limit exceeded' }],
    })
  })

  test('but an array of many texts is made, joined, and written', async () => {
    const title = `{% assign a = payload.list | concat: payload.list | push: "z" %}{{ a | uniq | join }} {{ a }}`
    const list = Array.from({ length: 500 }, (_, index) => `t${index}`)
    const reading = await read(definitionOf(title), bytesOf({ list }))
    expect(reading).toMatchObject({ tasks: [{ task: { title: expect.stringMatching(/^t0 t1 t2 /) } }] })
  })
})

describe('each filter ends on 1 MiB of text, with a result or an error', () => {
  const filters = Object.keys(new Liquid().filters)
  test.each(filters)('%s', async (filter) => {
    const calls = [filter, `split: "" | ${filter}`, `${filter}: payload.text, payload.text`]
    for (const [index, call] of calls.entries()) {
      const bytes = bytesOf({ text: index === 1 ? WIDE : ASCII })
      const reading = await read(definitionOf(`{{ payload.text | ${call} }}`), bytes)
      expect(['accepted', 'rejected']).toContain(reading.outcome)
      const codes = 'errors' in reading ? reading.errors.map(({ code }) => code) : []
      expect(['template_failed', 'required', undefined]).toContain(codes[0])
    }
  })
})

describe('what is many or deep ends with a result or an error', () => {
  test('an array of 1,000 items is refused', async () => {
    const payload = { items: Array.from({ length: 1_000 }, () => ({})) }
    expect(await read(definitionOf('T', 'payload.items'), bytesOf(payload))).toMatchObject({
      outcome: 'rejected',
      errors: [{ path: '/items', code: 'too_many' }],
    })
  })

  test('items that loop share the time of one delivery', async () => {
    const loop = '{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}T'
    const payload = { items: Array.from({ length: 500 }, () => ({})) }
    const reading = await read(definitionOf(loop, 'payload.items'), bytesOf(payload))
    expect(reading).toMatchObject({ outcome: 'rejected', isTooSlow: true })
    expect('errors' in reading && reading.errors).toHaveLength(1)
  })

  const NESTED = Buffer.from(`{"deep":${'['.repeat(MIB / 2 - 10)}${']'.repeat(MIB / 2 - 10)}}`)
  test.each(['', '| json', '| inspect', '| join', '| compact | uniq | sort | size', '| sum', '| date: "%Y"'])(
    'a payload of half a million levels: {{ payload.deep %s }}',
    async (filters) => {
      const reading = await read(definitionOf(`T {{ payload.deep ${filters} }}`), NESTED)
      expect(['accepted', 'rejected', 'unreadable']).toContain(reading.outcome)
    },
  )

  test.each([
    ['conditions', '{% if true %}', '{% endif %}'],
    ['loops', '{% for a in (1..9) %}', '{% endfor %}'],
    ['captures', '{% capture a %}', '{% endcapture %}'],
    ['members', '', '{{ payload[payload[payload[payload]]] }}'],
  ])('templates as deep as they may be long: %s', async (_, start, end) => {
    const depth = Math.floor((MAX_TEMPLATE_LENGTH - 1) / (start.length + end.length))
    const definition = definitionOf(`${start.repeat(depth)}T${end.repeat(depth)}`)
    expect(await reader.check(definition)).toEqual([])
    const { outcome } = await read(definition, bytesOf({}))
    expect(['accepted', 'rejected']).toContain(outcome)
  })
})
