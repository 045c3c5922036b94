import { expect, test } from 'vitest'
import { type ClaimEvent, contradictionsIn } from './claim-history.ts'

/** A call under claim 1, unless given; each takes one unit of time. */
const call = (kind: ClaimEvent['kind'], at: number, values: Partial<ClaimEvent> = {}): ClaimEvent => ({
  kind,
  taskId: 'a',
  number: 1,
  sentAt: at,
  returnedAt: at + 1,
  ...values,
})
const FIRST = call('claim', 0, { version: 2 })
const second = (at: number) => call('claim', at, { number: 2, version: 6 })

test.each([
  ['a claim, a write and the end', [FIRST, call('write', 2, { version: 3 }), call('end', 4), second(6)]],
  ['a claim that is answered after the end was sent', [FIRST, call('end', 4), second(3.5)]],
  [
    'a lease that is over',
    [FIRST, call('expiry', 4), second(6), call('write', 8, { number: 2, version: 7 })],
  ],
  ['the end of a lease of a claim that got no response', [call('expiry', 0), second(2)]],
])('%s is possible', (_, events) => {
  expect(contradictionsIn(events)).toEqual([])
})

test.each([
  ['a claim of a claimed task', [FIRST, second(2)], 'nothing had ended it'],
  ['a claim before the end of the one before', [FIRST, second(2), call('end', 4)], 'nothing had ended it'],
  ['the same claim twice', [FIRST, FIRST, call('end', 0)], 'was made twice'],
  ['a write after the end', [FIRST, call('end', 2), call('write', 4, { version: 4 })], 'after its end'],
  ['a renewal after the end of the lease', [FIRST, call('expiry', 2), call('renewal', 4)], 'after its end'],
  [
    'a write after the next claim',
    [FIRST, call('expiry', 2, { returnedAt: 9 }), second(4), call('write', 6, { version: 7 })],
    'after its end',
  ],
  [
    'a version of the next claim',
    [FIRST, call('expiry', 2, { returnedAt: 9 }), second(4), call('write', 4, { version: 7 })],
    'version 7 was written under claim 1',
  ],
  ['a write under a claim that nobody has', [call('write', 2, { version: 3 })], 'which nobody has'],
])('%s is a contradiction', (_, events, expected) => {
  expect(contradictionsIn(events).join('\n')).toContain(expected)
})
