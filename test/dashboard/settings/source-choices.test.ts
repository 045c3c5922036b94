import { describe, expect, test } from 'vitest'
import type { Path } from '../../../src/dashboard/settings/payload-path.ts'
import { canBeText, eachFor, templateFor, withEach } from '../../../src/dashboard/settings/source-choices.ts'
import { EMPTY_DRAFT } from '../../../src/dashboard/settings/source-draft.ts'
import type { Member } from '../../../src/dashboard/settings/template-mapping.ts'
import { enteredWord, guessWords, suggestedWords } from '../../../src/dashboard/settings/value-words.ts'

const PAYLOAD = {
  title: 'Disk full',
  severity: 'CRITICAL',
  urgency: 'high',
  state: 'firing',
  isOver: true,
  level: 40,
  nothing: null,
  tags: ['disk', 'db'],
  labels: [{ title: 'bug', 'team name': 'core' }],
  alerts: [
    { level: 'warning', status: 'firing' },
    { level: 'critical', status: 'resolved' },
  ],
}

/** The template of a member that a value is chosen for. */
function chosen(member: Member, path: Path, each = '') {
  const template = { ...EMPTY_DRAFT.template, title: '' }
  return templateFor(member, { path, payload: PAYLOAD, draft: { each, template } })
}

describe('a chosen value', () => {
  test.for<[Member, Path, string]>([
    ['title', ['payload', 'title'], '{{ payload.title }}'],
    [
      'priority',
      ['payload', 'severity'],
      '{% if payload.severity == "CRITICAL" %}high{% else %}medium{% endif %}',
    ],
    ['priority', ['payload', 'urgency'], '{{ payload.urgency }}'],
    ['priority', ['payload', 'level'], '{% if payload.level == 40 %}medium{% endif %}'],
    ['priority', ['payload', 'isOver'], '{% if payload.isOver %}high{% endif %}'],
    ['priority', ['payload', 'nothing'], '{{ payload.nothing }}'],
    ['status', ['payload', 'state'], '{% if payload.state == "resolved" %}done{% else %}open{% endif %}'],
    ['status', ['payload', 'isOver'], '{% if payload.isOver %}done{% else %}open{% endif %}'],
    ['status', ['payload', 'title'], '{% if payload.title == "Disk full" %}open{% endif %}'],
    ['labels', ['payload', 'state'], '{{ payload.state }}'],
    ['labels', ['payload', 'tags'], '{{ payload.tags | join: "," }}'],
    ['labels', ['payload', 'tags', 1], '{{ payload.tags | join: "," }}'],
    ['labels', ['payload', 'labels', 0, 'title'], '{{ payload.labels | map: "title" | join: "," }}'],
    ['labels', ['payload', 'labels', 0, 'team name'], '{{ payload.labels[0]["team name"] }}'],
    ['description', ['payload', 'tags'], '{{ payload.tags | join: ", " }}'],
    ['title', ['payload', 'labels', 0, 'title'], '{{ payload.labels[0].title }}'],
  ])('becomes %s', ([member, path, template]) => {
    expect(chosen(member, path)).toBe(template)
  })

  test('of an item has the words of all items', () => {
    const priority = '{% if item.level == "critical" %}high{% else %}medium{% endif %}'
    expect(chosen('priority', ['payload', 'alerts', 0, 'level'], 'payload.alerts')).toBe(priority)
    expect(chosen('status', ['payload', 'alerts', 1, 'status'], 'payload.alerts')).toBe(
      '{% if item.status == "resolved" %}done{% else %}open{% endif %}',
    )
    expect(chosen('labels', ['payload', 'alerts', 1, 'status'], 'payload.alerts')).toBe('{{ item.status }}')
  })

  test('is no text if it is an object, or has any', () => {
    for (const value of ['', 0, false, null, ['a', 1, null]]) expect(canBeText(value)).toBe(true)
    for (const value of [{}, [], [{}], [['a']]]) expect(canBeText(value)).toBe(false)
  })

  test('is in the outermost array of objects', () => {
    expect(eachFor(['payload', 'alerts', 0, 'level'], PAYLOAD)).toBe('payload.alerts')
    expect(eachFor(['payload', 'alerts'], PAYLOAD)).toBe('payload.alerts')
    expect(eachFor(['payload', 'tags', 0], PAYLOAD)).toBeUndefined()
    expect(eachFor(['payload', 'title'], PAYLOAD)).toBeUndefined()
    expect(eachFor(['payload', 0, 'a'], [{ a: 1 }])).toBe('payload')
  })

  test('stays the same when a task is made for each item, and no longer', () => {
    const draft = {
      ...EMPTY_DRAFT,
      filter: 'payload.alerts[0].status == "firing"',
      template: { ...EMPTY_DRAFT.template, title: '{{ payload.alerts[0].level }}' },
    }
    const change = withEach(draft, 'payload.alerts')
    expect(change).toMatchObject({
      filter: 'item.status == "firing"',
      template: { title: '{{ item.level }}' },
    })
    const back = { each: '', filter: draft.filter, template: draft.template }
    expect(withEach({ ...draft, ...change }, '')).toEqual(back)
  })
})

describe('words', () => {
  test('are those of the example, then for texts those that others use', () => {
    expect(suggestedWords('priority', ['odd', 'odd', null]).slice(0, 2)).toEqual(['odd', 'critical'])
    expect(suggestedWords('priority', [1, 2])).toEqual(['1', '2'])
  })

  test('are in several lists if several say something', () => {
    const words = guessWords('priority', ['fatal', 'info', 'warning', 'odd'])
    expect(words).toEqual({
      cases: [
        { result: 'high', words: ['fatal'] },
        { result: 'low', words: ['info'] },
      ],
      otherwise: 'medium',
    })
  })

  test('that objects inherit are unknown', () => {
    expect(guessWords('status', ['constructor'])?.cases).toEqual([{ result: 'open', words: ['constructor'] }])
  })

  test('are entered as values of the same type', () => {
    expect(enteredWord('40', [10])).toBe(40)
    expect(enteredWord('40', ['10'])).toBe('40')
    expect(enteredWord('true', [false])).toBe(true)
    expect(enteredWord('true', ['no'])).toBe('true')
    expect(enteredWord('odd', [10])).toBe('odd')
  })
})
