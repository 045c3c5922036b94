import { expect, test } from 'vitest'
import { reasonFor } from '../../../src/domain/codehost/write-back.ts'

test.each([
  [null, 'completed'],
  ['completed', 'completed'],
  ['not_planned', 'not_planned'],
  ['duplicate', 'duplicate'],
] as const)('an issue whose task was closed as %s is closed as %s', (closedReason, reason) => {
  expect(reasonFor({ closedReason })).toBe(reason)
})
