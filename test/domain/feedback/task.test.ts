import { describe, expect, test } from 'vitest'
import { readBody } from '../../../src/domain/feedback/body.ts'
import { dedupKeyOf, type FeedbackEvent, readEvent } from '../../../src/domain/feedback/event.ts'
import { descriptionOf, feedbackTask, newFeedbackTask, titleOf } from '../../../src/domain/feedback/task.ts'

const REQUIRED = { sentiment: 'frustrated', trigger: 'manual', app_version: '2.3.1' }
const FLAT = {
  event: 'feedback_submitted',
  distinct_id: 'user-1',
  timestamp: '2026-11-21T08:15:30.000Z',
  properties: REQUIRED,
}

/** What comes of a body on the wire. */
function read(body: unknown) {
  const parsed = readBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
  if (!parsed.isJson) throw new Error('The test sends what is no JSON.')
  return readEvent(parsed.body)
}

function eventWith(properties: Record<string, unknown>, others: object = {}): FeedbackEvent {
  const reading = read({ ...FLAT, ...others, properties: { ...REQUIRED, ...properties } })
  if (reading.outcome !== 'accepted') throw new Error('The test sends what is refused.')
  return reading.event
}

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
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const reading = read(JSON.stringify(FLAT).replace('}}', `,"deep":${deep}}}`))
    expect(reading.outcome).toBe('accepted')
    expect(() => JSON.stringify(reading)).not.toThrow()
  })

  test.each(['{"event":"feedback_submitted"', 'nope', '{"a":1}{"b":2}', "{'a':1}"])(
    '%s is not JSON',
    (text) => {
      expect(readBody(Buffer.from(text)).isJson).toBe(false)
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

describe('the title', () => {
  const long = 'word '.repeat(40).trim()
  const link = `https://app.example.org/reports/${'a1b2'.repeat(60)}?tab=export`
  test.each([
    [{ note: 'It does not work' }, 'It does not work'],
    [{ note: ' \n\r\n  First\tline \nSecond' }, 'First line'],
    [{ note: 'a\u2028b' }, 'a'],
    [{ surface: 'web_app' }, 'Frustrated feedback from web_app 2.3.1'],
    [{ surface: 'web_app', note: ' \n ' }, 'Frustrated feedback from web_app 2.3.1'],
    [{ surface: null, note: null }, 'Frustrated feedback from 2.3.1'],
    [{ sentiment: 'loved', surface: 'ios' }, 'Loved feedback from ios 2.3.1'],
    [{ note: 'x'.repeat(120) }, 'x'.repeat(120)],
    [{ note: 'x'.repeat(121) }, `${'x'.repeat(119)}…`],
    [{ note: '😀'.repeat(121) }, `${'😀'.repeat(119)}…`],
    [{ note: long }, `${'word '.repeat(24).trim()}…`],
    [{ note: `${link} does not open` }, 'app.example.org/… does not open'],
    [{ note: `${link}\n\nDoes not open` }, 'app.example.org/… Does not open'],
    [{ note: link }, 'app.example.org/…'],
    [
      { note: `See ${link} and https://x.example/short for more` },
      'See app.example.org/… and https://x.example/short for more',
    ],
    [{ note: link.replace('//', '//ann:secret@') }, 'app.example.org/…'],
    [{ note: 'https://x.example/short\nDoes not open' }, 'https://x.example/short'],
    [{ note: '<b>&amp; **bold**' }, '<b>&amp; **bold**'],
    [{ note: 'Write to Ann@Example.org', user_email: 'ann@example.org' }, 'Write to [user_email]'],
    [{ note: 'a.b', user_email: 'b' }, 'a.b'],
    [{ note: 'I am jane.doe', user_email: 'jane.doe' }, 'I am [user_email]'],
    [{ note: 'Mail jane@x.org', user_email: ['jane@x.org'] }, 'Mail [user_email]'],
    [{ note: 'Mail jane@x.org', $set: { user_email: 'jane@x.org' } }, 'Mail [user_email]'],
    [{ note: 'Mail jane@x.org.uk', user_email: ['jane@x.org', 'jane@x.org.uk'] }, 'Mail [user_email]'],
    [
      { note: 'Mail u40@x.org', user_email: Array.from({ length: 41 }, (_, n) => `u${n}@x.org`) },
      'Mail [user_email]',
    ],
    [
      { note: 'Mail u99@x.org', user_email: Array.from({ length: 100 }, (_, n) => `u${n}@x.org`) },
      '[user_email]',
    ],
  ])('of %j is %s', (properties, title) => {
    expect(titleOf(eventWith(properties))).toBe(title)
  })
})

describe('the description', () => {
  const rowsOf = (description: string) => description.split('\n').filter((line) => line.startsWith('|'))

  test('has the note and a table of the other properties, without the email address', () => {
    const event = eventWith({
      note: 'It does not work',
      surface: 'web_app',
      is_pro_user: true,
      gone: null,
      user_email: 'a@b.c',
    })
    expect(descriptionOf(event)).toBe(
      [
        'It does not work',
        '',
        '| Property | Value |',
        '| --- | --- |',
        '| sentiment | frustrated |',
        '| trigger | manual |',
        '| app_version | 2.3.1 |',
        '| surface | web_app |',
        '| is_pro_user | true |',
      ].join('\n'),
    )
  })

  test.each([
    ['a|b', 'a\\|b'],
    ['a\\|b', 'a\\\\\\|b'],
    ['a\nb\r\nc\u2028d', 'a b c d'],
    ['`code`', '\\`code\\`'],
    ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)&gt;'],
    ['&lt;b&gt; R&D', '&amp;lt;b&amp;gt; R&D'],
    ['[a](javascript:b)', '\\[a\\](javascript:b)'],
    ['*a* _b_ c_d ~~e~~', '\\*a\\* \\_b\\_ c_d \\~\\~e\\~\\~'],
    [{ a: ['|', '\n'] }, '{"a":\\["\\|","\\\\n"\\]}'],
  ])('escapes table cells: %j', (value, cell) => {
    expect(rowsOf(descriptionOf(eventWith({ value }))).at(-1)).toBe(`| value | ${cell} |`)
    expect(rowsOf(descriptionOf(eventWith({ [String(value)]: 1 })))).toHaveLength(6)
  })

  test.each([
    'two\nlines',
    '# A heading',
    '<script>alert(1)</script>',
    '<!-- open',
    '```\nopen fence',
    '`````',
    '| a | b |\n| --- | --- |',
    '1. a list',
  ])('fences a note with Markdown syntax and leaves it unchanged: %j', (note) => {
    const [fence = '', ...rest] = descriptionOf(eventWith({ note })).split('\n')
    expect(fence).toMatch(/^`{3,}$/)
    expect(note).not.toContain(fence)
    expect(rest.join('\n').startsWith(`${note}\n${fence}\n\n| Property |`)).toBe(true)
  })

  test('truncates a note to 64 KiB between two characters, closes the fence, and adds a notice', () => {
    const event = eventWith({ note: `# ${'😀é'.repeat(20_000)}` })
    const description = descriptionOf(event)
    const [, note = ''] = /^```\n(.*)\n```$/m.exec(description) ?? []

    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(65_536 + 3)
    expect(Buffer.byteLength(note)).toBeGreaterThan(64_000)
    expect(note.endsWith('…')).toBe(true)
    expect(description.isWellFormed()).toBe(true)
    expect(description).not.toContain('\ufffd')
    expect(description).toContain('| app_version | 2.3.1 |')
    expect(description).toMatch(/This task was cut: .* 64 KiB of the note/)
    expect(feedbackTask(event).metadata).toMatchObject({ properties: { note: expect.stringMatching(/…$/) } })
    expect(descriptionOf(eventWith({ note: 'x'.repeat(65_536) }))).not.toContain('was cut')
  })

  test('truncates a note before an email address, not inside it', () => {
    const address = `${'a'.repeat(300)}@example.org`
    for (const start of [65_200, 65_300, 65_400, 65_500, 65_536]) {
      const note = `${'x '.repeat(start / 2)}${address}${' y'.repeat(50_000)}`
      expect(descriptionOf(eventWith({ note, user_email: address }))).not.toContain('aaa')
      const many = `${`${address} `.repeat(1_000)}`
      expect(descriptionOf(eventWith({ note: many, user_email: address }))).not.toContain('aaa')
    }
  })

  test('and the metadata have a thousand properties, known ones first, and count the others', () => {
    const others = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`p${n}`, n]))
    const event = eventWith({ ...others, app_id: 'shop', user_email: 'ann@x.org', note: 'Ask ann@x.org' })

    const { description, metadata, title } = feedbackTask(event)

    const { properties } = metadata as { properties: Record<string, unknown> }
    expect(Object.keys(properties)).toHaveLength(1_000)
    expect(Object.keys(properties).slice(0, 4)).toEqual(['sentiment', 'trigger', 'app_version', 'p0'])
    expect(properties).toMatchObject({ app_id: 'shop', user_email: 'ann@x.org', note: 'Ask ann@x.org' })
    expect(description).toMatch(/506 more properties are not shown\./)
    expect(description).toMatch(/This task was cut: it holds up to 1,000 properties/)
    expect(title).toBe('Ask [user_email]')
  })

  test('redacts an email address in a property that the task does not store', () => {
    const others = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`p${n}`, n]))
    const event = eventWith({ ...others, $set: { user_email: 'ann@x.org' }, note: 'Ask ann@x.org' })
    expect(descriptionOf(event)).not.toContain('ann@x.org')
  })

  test('omits a property that is larger than all the others may be together', () => {
    const { metadata, description } = feedbackTask(eventWith({ huge: Array(30_000).fill([]), small: [1] }))
    expect(metadata).toMatchObject({ properties: { ...REQUIRED, small: [1] } })
    expect(metadata).not.toHaveProperty('properties.huge')
    expect(description).toMatch(/1 more property is not shown\./)
  })

  test('is truncated at 262,144 bytes when its table is longer', () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`p${n}`, 'é'.repeat(1_000)]))
    const event = eventWith({ ...many, note: 'Many' })
    expect(Buffer.byteLength(descriptionOf(event))).toBeLessThanOrEqual(262_144)
    expect(descriptionOf(event)).toMatch(/was cut at 262,144 bytes\. The whole feedback is in the metadata/)
    expect(feedbackTask(event).metadata.properties).toEqual(event.properties)
  })

  test('counts the properties it omits', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, 'é'.repeat(1_000)]))
    const description = descriptionOf(eventWith({ ...many, note: 'Many' }))
    expect(Buffer.byteLength(description)).toBeLessThanOrEqual(262_144)
    expect(description).toMatch(/\n\n\d+ more properties are not shown\.\n\n/)
    expect(description.startsWith('Many\n\n')).toBe(true)
  })

  test.each([
    ['a note of backticks', { note: '`'.repeat(400_000) }],
    ['a name as long as an event', { ['n'.repeat(1_000_000)]: 1 }],
    ['a value as long as an event', { v: '|'.repeat(1_000_000) }],
    ['both', { note: '<'.repeat(900_000), v: '<'.repeat(900_000) }],
  ])('stays within its limit with %s', (_, properties) => {
    expect(Buffer.byteLength(descriptionOf(eventWith(properties)))).toBeLessThanOrEqual(262_144)
  })
})

describe('the task', () => {
  const destination = { listId: 'list', projectId: 'project' }
  const now = new Date('2026-11-21T09:00:00.000Z')
  const rowOf = (event: FeedbackEvent) => newFeedbackTask(feedbackTask(event), { id: 'id', now, destination })

  test.each([
    ['frustrated', 3],
    ['meh', 2],
    ['loved', 1],
  ])('of %s feedback has the priority %i and labels', (sentiment, priority) => {
    expect(rowOf(eventWith({ sentiment }))).toMatchObject({
      priority,
      labels: [sentiment, 'manual'],
      source: 'analytics',
      createdByType: 'analytics',
      createdAt: now,
      status: 'open',
    })
  })

  test('keeps everything that was sent in its metadata, including the email address', () => {
    const properties = { user_email: 'a@b.c', 'odd key': [1], note: null }
    const row = rowOf(eventWith(properties, { timestamp: '2026-11-21T10:15:30+02:00' }))
    expect(row.metadata).toEqual({
      distinctId: 'user-1',
      occurredAt: '2026-11-21T08:15:30.000Z',
      properties: { ...REQUIRED, ...properties },
    })
  })

  test('has labels that the API accepts, whatever the trigger is', () => {
    const labels = (trigger: string) => rowOf(eventWith({ trigger })).labels
    expect(labels(`${'x'.repeat(99)} y\nz`)).toEqual(['frustrated', 'x'.repeat(99)])
    expect(labels('frustrated')).toEqual(['frustrated'])
  })
})
