import { expect, test } from 'vitest'
import {
  definitionOf,
  draftOf,
  EMPTY_DRAFT,
  parsedPayload,
  verifyOf,
} from '../../../src/dashboard/settings/source-draft.ts'

test('what is empty is absent', () => {
  expect(definitionOf({ ...EMPTY_DRAFT, each: ' ', filter: ' payload.ok ' })).toEqual({
    each: null,
    filter: 'payload.ok',
    clears: [],
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
    clears: ['labels' as const],
    template: {
      ...{ title: '{{ item.name }}', description: null, priority: null, labels: 'alert' },
      ...{ externalId: '{{ item.id }}', externalUrl: null, status: 'open' },
    },
  }
  const draft = draftOf({
    ...definition,
    mapping: 'template',
    ...{ id: 'alerts', name: 'Alerts', description: 'Alerts.', secretFrom: 'inlet', example: {} },
    verify: { scheme: 'bearer', header: null, prefix: null },
  })
  expect(definitionOf(draft)).toEqual(definition)
})

test('a source of feedback has no templates, whatever was edited before', () => {
  expect(definitionOf({ ...EMPTY_DRAFT, mapping: 'feedback', each: 'payload.alerts' })).toEqual({})
})

test('a text is a payload if it is JSON', () => {
  expect(parsedPayload('')).toBeUndefined()
  expect(parsedPayload('{"a":')).toBeUndefined()
  expect(parsedPayload('null')).toEqual({ payload: null })
})

test('a header and what is before the signature are sent where the scheme reads them', () => {
  const draft = { ...EMPTY_DRAFT, header: ' X-Hub-Signature-256 ', prefix: 'sha256=' }
  expect(verifyOf({ ...draft, scheme: 'hmac_sha256_hex' })).toEqual({
    scheme: 'hmac_sha256_hex',
    header: 'X-Hub-Signature-256',
    prefix: 'sha256=',
  })
  expect(verifyOf({ ...draft, scheme: 'token', prefix: '' }).prefix).toBeNull()
  expect(verifyOf(draft)).toEqual({ scheme: 'bearer', header: null, prefix: null })
})
