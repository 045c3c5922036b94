import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  eachText,
  inItem,
  movedPath,
  type Path,
  pathText,
  readPath,
  readWord,
  valueAt,
  valuesAt,
  wordText,
} from '../../../src/dashboard/settings/payload-path.ts'
import { parseDefinition, render } from '../../../src/domain/sources/templates.ts'

/** What the service renders. */
function rendered(title: string, payload: unknown): string {
  const template = { title } as Parameters<typeof parseDefinition>[0]['template']
  const result = parseDefinition({ each: null, filter: null, clears: [], template })
  if ('errors' in result) throw new Error(`${title}: ${JSON.stringify(result.errors)}`)
  const [[, templates] = ['title', []]] = result.parsed.members
  return render(templates, { payload, item: payload, renderLimit: 1_000 })
}

describe('a path', () => {
  test.for<[Path, string]>([
    [['payload'], 'payload'],
    [['payload', 'alert', 'title'], 'payload.alert.title'],
    [['item', 'labels', 'alert-name'], 'item.labels.alert-name'],
    [['payload', 'alerts', 0, 'labels', 'severity'], 'payload.alerts[0].labels.severity'],
    [['payload', 'rows', 3, 12], 'payload.rows[3][12]'],
    [['payload', 'weird key'], 'payload["weird key"]'],
    [['payload', 'a.b', ''], 'payload["a.b"][""]'],
    [['payload', '0', '$set'], 'payload["0"]["$set"]'],
    [['payload', 'größe'], 'payload["größe"]'],
    [['payload', 'a"b\\c'], 'payload["a\\"b\\\\c"]'],
    [['payload', 'constructor', '__proto__'], 'payload.constructor.__proto__'],
    [['payload', '<b>'], 'payload["<b>"]'],
    [['payload', '}}%}'], 'payload["\\u007d\\u007d\\u0025}"]'],
  ])('%j is written as an expert would, and read again', ([path, text]) => {
    expect(pathText(path)).toBe(text)
    expect(readPath(text)).toEqual(path)
  })

  test.for([
    '',
    'payloads.title',
    'payload-x',
    'title',
    'payload.',
    'payload.a b',
    'payload.a | upcase',
    'payload.a == 1',
    'payload[a]',
    'payload["a',
    'payload..a',
    '"payload"',
  ])('%j is none', (text) => {
    expect(readPath(text)).toBeUndefined()
  })

  test('with single quotes and blanks is read, too', () => {
    expect(readPath(`payload[ 'weird key' ][ 2 ]`)).toEqual(['payload', 'weird key', 2])
  })

  test('names the same value for the service', () => {
    const leaves = fc.constantFrom<unknown>(
      'text',
      '<b>&amp;</b>',
      'Zoë 🙂',
      0,
      -1.5,
      true,
      false,
      12345678901234567890n,
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), KEYS, fc.nat({ max: 3 })), {
          minLength: 1,
          maxLength: 5,
        }),
        leaves,
        (steps, leaf) => {
          const value = typeof leaf === 'bigint' ? Number(leaf) : leaf
          const payload = JSON.parse(JSON.stringify(around(steps, value)))
          const path: Path = ['payload', ...steps]
          expect(valueAt(payload, steps)).toEqual(value)
          expect(readPath(pathText(path))).toEqual(path)
          expect(rendered(`{{ ${pathText(path)} }}`, payload)).toBe(String(value))
          expect(rendered(`{% if ${pathText(path)} != nil %}yes{% endif %}`, payload)).toBe('yes')
        },
      ),
      { numRuns: 50 },
    )
  })
})

const KEYS = fc.constantFrom(
  ...[
    'constructor',
    'size',
    'first',
    'last',
    'empty',
    'blank',
    'nil',
    'true',
    'and',
    'contains',
    '',
    ' ',
    '.',
  ],
  ...[
    'a.b',
    'a-b',
    '"',
    "'",
    '\\',
    ']',
    '}}',
    '{{',
    '%}',
    '{%',
    '}}}',
    '1',
    '-1',
    '<script>',
    'größe',
    '日本',
  ],
)

/** A value where the steps lead to, in arrays for positions. */
const around = (steps: (string | number)[], value: unknown): unknown =>
  steps.reduceRight<unknown>((inner, step) => {
    if (typeof step === 'number') return [...Array.from({ length: step }, () => null), inner]
    const object = Object.create(null)
    Object.defineProperty(object, step, { value: inner, enumerable: true })
    return object
  }, value)

describe('a word', () => {
  test('is read as it was written, and compared by the service', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), KEYS, fc.integer(), fc.boolean()), (word) => {
        expect(readWord(wordText(word))).toBe(word)
        const condition = `payload.word == ${wordText(word)}`
        expect(rendered(`{% if ${condition} %}equal{% endif %}`, { word })).toBe('equal')
        expect(condition).not.toMatch(/\{%|%\}|\{\{|\}\}/)
      }),
    )
  })

  test.for(['', 'nil', 'abc', '1e3', '"', '[1]'])('%j is none', (text) => {
    expect(readWord(text)).toBeUndefined()
  })
})

describe('a path of each', () => {
  test('has only names that the field accepts', () => {
    expect(eachText(['payload'])).toBe('payload')
    expect(eachText(['payload', 'data', 'my-alerts', '0'])).toBe('payload.data.my-alerts.0')
    expect(eachText(['payload', 'a b'])).toBeUndefined()
    expect(eachText(['payload', 'alerts', 0, 'parts'])).toBeUndefined()
    expect(eachText(['item', 'parts'])).toBeUndefined()
    expect(eachText(['payload', 'a'.repeat(200)])).toBeUndefined()
  })

  test('makes what is in its items a path of the item, and back', () => {
    const path: Path = ['payload', 'alerts', 3, 'title']
    expect(inItem(path, 'payload.alerts')).toEqual(['item', 'title'])
    expect(inItem(path, '')).toEqual(path)
    expect(inItem(['payload', 'alerts2', 3, 'title'], 'payload.alerts')).toEqual([
      'payload',
      'alerts2',
      3,
      'title',
    ])
    expect(inItem(['payload', 'alerts'], 'payload.alerts')).toEqual(['payload', 'alerts'])
    expect(inItem(['payload', 0, 'title'], 'payload')).toEqual(['item', 'title'])
    expect(movedPath(['item', 'title'], { from: 'payload.alerts', to: '' })).toEqual([
      'payload',
      'alerts',
      0,
      'title',
    ])
    expect(movedPath(['item', 'title'], { from: '', to: 'payload.alerts' })).toEqual(['payload', 'title'])
  })

  test('has the values of all items', () => {
    const payload = { alerts: [{ level: 'high' }, { level: 'low' }, null, {}], level: 'none' }
    const each = 'payload.alerts'
    expect(valuesAt(payload, { path: ['item', 'level'], each })).toEqual([
      'high',
      'low',
      undefined,
      undefined,
    ])
    expect(valuesAt(payload, { path: ['payload', 'level'], each })).toEqual(['none'])
    expect(valuesAt(payload, { path: ['item', 'level'], each: '' })).toEqual(['none'])
    expect(valuesAt(undefined, { path: ['item', 'level'], each })).toEqual([])
    expect(valuesAt({}, { path: ['payload', 'constructor'], each: '' })).toEqual([undefined])
  })
})
