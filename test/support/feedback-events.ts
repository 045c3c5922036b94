import { readFileSync } from 'node:fs'
import { feedback } from './feedback.ts'

const surveySent = JSON.parse(
  readFileSync(new URL('./recorded/sources/posthog-survey-sent.json', import.meta.url), 'utf8'),
)
const { event: _survey, ...around } = surveySent
const { uuid: _uuid, ...withoutUuid } = feedback({ note: 'No identifier' })

/** What the analytics platform sends, by what is special about it. The first ones become tasks, the others don't. */
export const FEEDBACK_EVENTS: [string, unknown][] = [
  [
    'the flat form',
    feedback({ note: 'The export button does nothing.\nIt only blinks.', surface: 'web_app' }),
  ],
  [
    'the default form, with the person that was recorded',
    {
      ...around,
      event: feedback({ note: 'Nested', url: 'https://example.com/a|b', device_model: 'Pixel | <9>' }),
    },
  ],
  ['no note', feedback({ sentiment: 'loved', surface: 'web_app' })],
  ['no identifier', withoutUuid],
  ['an identifier that is no UUID', feedback({ note: 'Other' }, { uuid: 'evt_1' })],
  [
    'an e-mail address in the note',
    feedback({ note: 'Write to ada@example.com', user_email: 'ada@example.com' }),
  ],
  ['an app that a rule names', feedback({ note: 'Native', bundle_id: 'COM.Example.App' })],
  [
    'a project and an app that a rule names',
    feedback({ note: 'Both', project_name: 'Checkout', bundle_id: 'com.example.app' }),
  ],
  ['a project of ours', feedback({ note: 'By name', project_name: 'Grouped' })],
  ['a note to group', feedback({ note: 'Search finds nothing at all.', project_name: 'Grouped' })],
  ['the same note', feedback({ note: 'search FINDS nothing, at all', project_name: 'Grouped' })],
  [
    'another offset',
    feedback({ sentiment: 'meh', note: 'Later' }, { timestamp: '2026-11-20T23:15:30+0900' }),
  ],
  ['a clock that is ahead', feedback({ note: 'Ahead' }, { timestamp: '2999-01-01T00:00:00Z' })],
  [
    'unusual members',
    JSON.stringify(
      feedback({ note: 'a\0b \ud800', constructor: 'c', 'with.dots': { n: [null, 1] } }),
    ).replace('"sentiment"', '"__proto__":{"polluted":1},"sentiment"'),
  ],
  [
    'more properties than a task has',
    feedback(Object.fromEntries(Array.from({ length: 1_200 }, (_, n) => [`property_${n}`, n]))),
  ],
  ['a long note', feedback({ note: 'All work and no play. '.repeat(5_000) })],
  ['an event of another name', surveySent],
  ['nothing that is required', { event: 'feedback_submitted', properties: {} }],
  ['a wrong timestamp', feedback({}, { timestamp: 'yesterday' })],
  ['a list', []],
  ['no JSON', '{"event":'],
]
