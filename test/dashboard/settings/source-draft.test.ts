import { expect, test } from 'vitest'
import {
  definitionOf,
  draftOf,
  EMPTY_DRAFT,
  parsedPayload,
} from '../../../src/dashboard/settings/source-draft.ts'

test('what is empty is absent', () => {
  expect(definitionOf({ ...EMPTY_DRAFT, each: ' ', filter: ' payload.ok ' })).toEqual({
    each: null,
    filter: 'payload.ok',
    template: {
      title: '{{ payload.title }}',
      ...{
        description: null,
        priority: null,
        labels: null,
        externalId: null,
        externalUrl: null,
        status: null,
      },
    },
  })
})

test('a source is the same after it was opened and saved', () => {
  const definition = {
    each: 'payload.alerts',
    filter: null,
    template: {
      ...{ title: '{{ item.name }}', description: null, priority: null, labels: 'alert' },
      ...{ externalId: '{{ item.id }}', externalUrl: null, status: 'open' },
    },
  }
  const draft = draftOf({
    ...definition,
    ...{ id: 'alerts', name: 'Alerts', description: 'Alerts.', secretFrom: 'inlet' },
    verify: { scheme: 'bearer', header: null, prefix: null },
  })
  expect(definitionOf(draft)).toEqual(definition)
})

test('a text is a payload if it is JSON', () => {
  expect(parsedPayload('')).toBeUndefined()
  expect(parsedPayload('{"a":')).toBeUndefined()
  expect(parsedPayload('null')).toEqual({ payload: null })
})
