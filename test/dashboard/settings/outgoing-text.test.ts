import { describe, expect, test } from 'vitest'
import { attemptText, disabledText } from '../../../src/dashboard/settings/outgoing-text.ts'

describe('an attempt', () => {
  const attempt = { responseStatus: 200, error: null, durationMs: 1_234, attempts: 1 }

  test.each([
    [attempt, 'HTTP 200 in 1,234 ms'],
    [{ ...attempt, responseStatus: 500, attempts: 3 }, 'HTTP 500 in 1,234 ms, tried 3 times'],
    [
      { ...attempt, responseStatus: null, error: 'The connection was closed.' },
      'The connection was closed in 1,234 ms',
    ],
    [
      { ...attempt, responseStatus: null, durationMs: null, error: 'The secret cannot be decrypted.' },
      'The secret cannot be decrypted',
    ],
    [{ ...attempt, attempts: 0 }, undefined],
  ])('%j is %j', (given, expected) => expect(attemptText(given)).toBe(expected))
})

test('a webhook that was turned off by a user has no reason', () => {
  expect(disabledText({ disabledReason: null })).toBeUndefined()
  expect(disabledText({ disabledReason: 'gone' })).toContain('410')
})
