import { describe, expect, test } from 'vitest'
import { readJson } from '../../../src/domain/delivery-body.ts'
import { dedupKeyOf, type FeedbackEvent } from '../../../src/domain/feedback/event.ts'
import { eventWith, FLAT, REQUIRED, read } from '../../support/feedback-event.ts'

const pathsOf = (body: unknown) => {
  const reading = read(body)
  return reading.outcome === 'rejected' ? reading.errors.map(({ path }) => path) : reading.outcome
}

describe('a delivery', () => {
  test.each([
    ['flat', FLAT],
    ['flat with uuid and members nobody knows', { ...FLAT, uuid: 'any string', person: { a: 1 } }],
    ['nested', { event: { ...FLAT, uuid: 'u', url: 'https://x' }, person: { properties: {} } }],
    ['with null for what may be absent', { ...FLAT, uuid: null, properties: { ...REQUIRED, note: null } }],
    ['with another offset', { ...FLAT, timestamp: '2026-11-21T10:15:30+02:00' }],
    ['with an offset without colon', { ...FLAT, timestamp: '2026-11-21T10:15:30.123456+0200' }],
    ['of the year 1', { ...FLAT, timestamp: '0001-01-01T00:00:00.000Z' }],
    ['of the year 1, where it is the year 0 in UTC', { ...FLAT, timestamp: '0001-01-01T00:00:00+14:00' }],
    ['of the year 9999', { ...FLAT, timestamp: '9999-12-31T23:59:59.999Z' }],
    [
      'of the year 9999, where it is the year 10000 in UTC',
      { ...FLAT, timestamp: '9999-12-31T23:59:59-12:00' },
    ],
    [
      'with optional properties of odd types',
      { ...FLAT, properties: { ...REQUIRED, note: 5, project_id: [1] } },
    ],
  ])('%s is accepted', (_, body) => {
    expect(read(body).outcome).toBe('accepted')
  })

  test.each([
    [{ event: 'page_view' }],
    [{ event: 'page_view', distinct_id: 5, properties: 'none' }],
    [{ event: '' }],
    [{ event: { event: 'page_view' } }],
    [{ event: 'FEEDBACK_SUBMITTED' }],
  ])('with another event name is ignored, whatever else it contains: %j', (body) => {
    expect(read(body).outcome).toBe('ignored')
  })

  test.each([
    ['', ['/event', '/distinct_id', '/timestamp', '/properties']],
    ['{}', ['/event', '/distinct_id', '/timestamp', '/properties']],
    ['[]', ['']],
    ['null', ['']],
    ['"feedback_submitted"', ['']],
    [{ ...FLAT, event: 5 }, ['/event']],
    [{ ...FLAT, event: null }, ['/event']],
    [{ ...FLAT, distinct_id: 5, timestamp: null }, ['/distinct_id', '/timestamp']],
    [{ ...FLAT, distinct_id: ' ' }, ['/distinct_id']],
    [{ ...FLAT, timestamp: 'yesterday' }, ['/timestamp']],
    [{ ...FLAT, timestamp: '2026-02-30T00:00:00Z' }, ['/timestamp']],
    [{ ...FLAT, timestamp: '2026-11-21T08:15:30' }, ['/timestamp']],
    [{ ...FLAT, timestamp: 1795243461401 }, ['/timestamp']],
    [{ ...FLAT, properties: [] }, ['/properties']],
    [
      { ...FLAT, properties: {} },
      ['/properties/sentiment', '/properties/trigger', '/properties/app_version'],
    ],
    [{ ...FLAT, properties: { ...REQUIRED, sentiment: 'Loved' } }, ['/properties/sentiment']],
    [{ ...FLAT, properties: { ...REQUIRED, app_version: 2 } }, ['/properties/app_version']],
    [
      { event: { event: 'feedback_submitted', properties: { sentiment: null } } },
      [
        '/event/distinct_id',
        '/event/timestamp',
        '/event/properties/sentiment',
        '/event/properties/trigger',
        '/event/properties/app_version',
      ],
    ],
  ])('with invalid fields gets one error for each, with the path as sent: %j', (body, paths) => {
    expect(pathsOf(body)).toEqual(paths)
  })

  test('keeps members of any name, as plain text keys', () => {
    const { properties } = eventWith({ 'a.b': 1, '😀': 2, constructor: { prototype: 3 } })
    const reading = read(
      `{"event":"feedback_submitted","distinct_id":"u","timestamp":"2026-11-21T08:15:30Z","properties":{"__proto__":{"sentiment":"loved"},"sentiment":"meh","trigger":"t","app_version":"1"}}`,
    )

    expect(JSON.stringify(properties)).toContain('"a.b":1,"😀":2,"constructor":{"prototype":3}')
    expect(reading).toMatchObject({ outcome: 'accepted', event: { sentiment: 'meh' } })
    expect(JSON.stringify(reading)).toContain('"__proto__":{"sentiment":"loved"}')
    expect(({} as { sentiment?: string }).sentiment).toBeUndefined()
  })

  test('is accepted with any characters: NUL is stripped and lone surrogates are replaced, also in names', () => {
    const body = JSON.stringify({
      ...FLAT,
      properties: { ...REQUIRED, 'k\0\ud800': 'a\0b\udfff', n: [{ x: '\0' }] },
    })

    const { properties } = (read(`\ufeff${body}\0`) as { event: FeedbackEvent }).event

    expect(properties).toMatchObject({ 'k\ufffd': 'ab\ufffd', n: [{ x: '' }] })
  })

  test('keeps large integers as digits, and others as numbers', () => {
    const { properties } = (
      read(
        JSON.stringify(FLAT).replace(
          '}}',
          ',"big":-12345678901234567890,"huge":1e999,"pi":3.141592653589793238,"n":1234567890123456}}',
        ),
      ) as {
        event: FeedbackEvent
      }
    ).event

    expect(properties).toMatchObject({
      big: '-12345678901234567890',
      huge: '1e999',
      pi: Math.PI,
      n: 1234567890123456,
    })
  })

  test('keeps values that are nested too deeply as text', () => {
    const deep = `${'['.repeat(998)}${']'.repeat(998)}`
    const reading = read(JSON.stringify(FLAT).replace('}}', `,"deep":${deep}}}`))
    expect(reading.outcome).toBe('accepted')
    expect(JSON.stringify(reading)).toContain(`"${'['.repeat(900)}${']'.repeat(900)}"`)
  })

  test.each(['{"event":"feedback_submitted"', 'nope', '{"a":1}{"b":2}', "{'a':1}"])(
    '%s is not JSON',
    (text) => {
      expect(readJson(Buffer.from(text)).isJson).toBe(false)
    },
  )
})

describe('the identity of an event', () => {
  test('is its uuid, regardless of the other content and the shape', () => {
    const flat = read({ ...FLAT, uuid: 'u1' })
    const nested = read({ event: { ...FLAT, uuid: 'u1', distinct_id: 'somebody else' } })
    const other = read({ ...FLAT, uuid: 'U1' })
    const keys = [flat, nested, other].map(
      (reading) => reading.outcome === 'accepted' && dedupKeyOf(reading.event),
    )

    expect(keys[0]).toBe(keys[1])
    expect(keys[0]).not.toBe(keys[2])
  })

  test('is a hash of the content without a uuid, in any order of members', () => {
    const key = (event: object) => dedupKeyOf(eventWith({}, event))
    const { properties, timestamp, ...others } = FLAT

    expect(dedupKeyOf(eventWith({ a: 1, b: { c: 2, d: 3 } }))).toBe(
      dedupKeyOf(eventWith({ b: { d: 3, c: 2 }, a: 1 })),
    )
    expect(key({})).toBe(key({ properties, timestamp, ...others }))
    expect(key({})).not.toBe(key({ distinct_id: 'user-2' }))
    expect(key({})).not.toBe(key({ timestamp: '2026-11-21T08:15:31.000Z' }))
    expect(dedupKeyOf(eventWith({ a: '1' }))).not.toBe(dedupKeyOf(eventWith({ a: 1 })))
  })
})
