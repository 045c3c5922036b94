import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptyTally, type Outcome, tallied } from '../../../src/domain/codehost/tally.ts'
import { sumOf } from '../../support/syncing.ts'

const outcomes: Outcome[] = ['created', 'closed', 'reopened', 'updated', 'unchanged', 'skipped']
const kindOf = (number: number) => (number % 3 === 0 ? ('pull_request' as const) : ('issue' as const))

test.each<[Outcome[], Outcome]>([
  [['created', 'updated'], 'created'],
  [['created', 'closed'], 'created'],
  [['unchanged', 'updated'], 'updated'],
  [['updated', 'unchanged'], 'updated'],
  [['closed', 'reopened'], 'reopened'],
  [['closed', 'updated'], 'closed'],
  [['skipped', 'unchanged'], 'unchanged'],
  [['unchanged', 'skipped'], 'unchanged'],
])('an item that is %j in one run counts as %s', (seen, expected) => {
  let tally = emptyTally()
  const met = new Map<number, Outcome>()
  for (const outcome of seen) {
    const result = tallied(tally, { seen: met, page: [{ number: 1, kind: 'issue', outcome }] })
    tally = result.tally
    for (const { number, outcome } of result.outcomes) met.set(number, outcome)
  }
  expect(tally.fetched).toBe(1)
  expect(met.get(1)).toBe(expected)
  expect(Object.entries(tally.counts.issues).filter(([, count]) => count > 0)).toEqual([[expected, 1]])
})

test('new and done items are reported, including those closed or reopened in the same run', () => {
  const pages = [
    [
      { number: 1, kind: 'issue', outcome: 'created', row: { status: 'done' } },
      { number: 2, kind: 'pull_request', outcome: 'created', row: { status: 'done' } },
      { number: 3, kind: 'issue', outcome: 'created', row: { status: 'open' } },
      { number: 4, kind: 'issue', outcome: 'closed', row: { status: 'done' } },
    ],
    [{ number: 3, kind: 'issue', outcome: 'closed', row: { status: 'done' } }],
    [
      { number: 1, kind: 'issue', outcome: 'reopened', row: { status: 'open' } },
      { number: 3, kind: 'issue', outcome: 'unchanged' },
    ],
  ] as const
  const met = new Map<number, Outcome>()
  let tally = emptyTally()
  const createdDone = pages.map((page) => {
    const result = tallied(tally, { seen: met, page: [...page] })
    tally = result.tally
    for (const { number, outcome } of result.outcomes) met.set(number, outcome)
    return tally.counts.createdDone
  })
  expect(createdDone).toEqual([2, 3, 2])
})

test('the parts add up to fetched, however often an item occurs', () => {
  const decision = fc.record({
    number: fc.integer({ min: 1, max: 20 }),
    outcome: fc.constantFrom(...outcomes),
  })
  const page = fc.uniqueArray(decision, { selector: ({ number }) => number })
  fc.assert(
    fc.property(fc.array(page), (pages) => {
      let tally = emptyTally()
      const met = new Map<number, Outcome>()
      for (const page of pages) {
        const result = tallied(tally, {
          seen: met,
          page: page.map((each) => ({ ...each, kind: kindOf(each.number) })),
        })
        tally = result.tally
        for (const { number, outcome } of result.outcomes) met.set(number, outcome)
      }
      expect(tally.fetched).toBe(met.size)
      expect(sumOf({ ...tally.counts, skipped: tally.skipped })).toBe(tally.fetched)
    }),
  )
})
