import { describe, expect, test } from 'vitest'
import type { FeedbackEvent } from '../../../src/domain/feedback/event.ts'
import { descriptionOf, feedbackTask, newFeedbackTask, titleOf } from '../../../src/domain/feedback/task.ts'
import { eventWith, REQUIRED } from '../../support/feedback-event.ts'

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
    expect(description).toMatch(/This task was truncated: .* 64 KiB of the note/)
    expect(feedbackTask(event).metadata).toMatchObject({ properties: { note: expect.stringMatching(/…$/) } })
    expect(descriptionOf(eventWith({ note: 'x'.repeat(65_536) }))).not.toContain('was truncated')
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
    expect(description).toMatch(/This task was truncated: it contains up to 1,000 properties/)
    expect(title).toBe('Ask [user_email]')
  })

  test('redacts an email address in a property that the task does not store', () => {
    const others = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`p${n}`, n]))
    const event = eventWith({ ...others, $set: { user_email: 'ann@x.org' }, note: 'Ask ann@x.org' })
    expect(descriptionOf(event)).not.toContain('ann@x.org')
  })

  test('is truncated at 262,144 bytes when its table is longer', () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`p${n}`, 'é'.repeat(1_000)]))
    const event = eventWith({ ...many, note: 'Many' })
    expect(Buffer.byteLength(descriptionOf(event))).toBeLessThanOrEqual(262_144)
    expect(descriptionOf(event)).toMatch(
      /was truncated at 262,144 bytes\. The full feedback is in the metadata/,
    )
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
  const destination = { listId: 'list', projectId: 'project', isTriageOn: true }
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

  test.each([
    ['2026-11-21T10:15:30+02:00', '2026-11-21T08:15:30.000Z'],
    ['1999-12-31T23:59:59Z', '1999-12-31T23:59:59.000Z'],
    ['2026-11-21T09:00:00.001Z', now.toISOString()],
    ['0001-01-01T00:00:00+05:00', now.toISOString()],
    ['9999-12-31T23:59:59-05:00', now.toISOString()],
  ])('that was given at %s was opened at %s', (timestamp, openedAt) => {
    expect(rowOf(eventWith({}, { timestamp }))).toMatchObject({
      openedAt: new Date(openedAt),
      createdAt: now,
    })
  })

  test('has labels that the API accepts, whatever the trigger is', () => {
    const labels = (trigger: string) => rowOf(eventWith({ trigger })).labels
    expect(labels(`${'x'.repeat(99)} y\nz`)).toEqual(['frustrated', 'x'.repeat(99)])
    expect(labels('frustrated')).toEqual(['frustrated'])
  })
})
