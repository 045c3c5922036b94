import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import {
  isRelevant,
  retryDelayMs,
  signatureHeaders,
  signingKeyOf,
  type WebhookFilter,
} from '../../src/domain/webhooks.ts'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const keysOf = (...bytes: number[]) => bytes.map((byte) => signingKeyOf(secretOf(byte)))

describe('a signature', () => {
  const body = '{"type":"task.created","title":"Ärger 🐛"}'
  const now = new Date()

  test('is verified by the official library', () => {
    const headers = signatureHeaders(body, { id: 'd1', now, keys: keysOf(1) })
    expect(new Webhook(secretOf(1)).verify(body, headers)).toEqual(JSON.parse(body))
    expect(headers['webhook-signature']).toBe(new Webhook(secretOf(1)).sign('d1', now, body))
  })

  test('is there for each secret, so that a receiver with either accepts it', () => {
    const headers = signatureHeaders(body, { id: 'd1', now, keys: keysOf(1, 2) })
    for (const byte of [1, 2]) expect(() => new Webhook(secretOf(byte)).verify(body, headers)).not.toThrow()
    expect(() => new Webhook(secretOf(3)).verify(body, headers)).toThrow()
  })
})

test('a webhook waits longer after each failure, until the last', () => {
  const minutes = Array.from({ length: 10 }, (_, failures) => (retryDelayMs(failures) ?? Number.NaN) / 60_000)
  expect(minutes).toEqual([5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440, Number.NaN])
})

describe('activity', () => {
  const all: WebhookFilter = { types: [], projectId: null, pauses: [] }
  const activity = { type: 'task.created', projectId: 'p1', position: 7 }

  test.each<[WebhookFilter, Parameters<typeof isRelevant>[1], boolean]>([
    [all, activity, true],
    [all, { type: 'key.created', projectId: null, position: 7 }, true],
    [{ ...all, types: ['task.completed', 'task.created'] }, activity, true],
    [{ ...all, types: ['task.completed'] }, activity, false],
    [{ ...all, types: ['task'] }, activity, false],
    [{ ...all, projectId: 'p1' }, activity, true],
    [{ ...all, projectId: 'p2' }, activity, false],
    [{ ...all, pauses: [[6, 8]] }, activity, false],
    [{ ...all, pauses: [[6, 7]] }, activity, false],
    [{ ...all, pauses: [[6, null]] }, activity, false],
    [
      {
        ...all,
        pauses: [
          [5, 6],
          [7, null],
        ],
      },
      activity,
      true,
    ],
    [{ ...all, projectId: 'p1' }, { type: 'key.created', projectId: null, position: 7 }, false],
  ])('%j is for %j: %j', (filter, given, expected) => expect(isRelevant(filter, given)).toBe(expected))
})
