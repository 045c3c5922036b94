import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fairShares } from '../../src/lib/fair-shares.ts'

test('each need is met if all fit', () => {
  expect(fairShares([3, 0, 5], 8)).toEqual([3, 0, 5])
})

test('what small needs leave over goes to the larger ones, which get the same', () => {
  expect(fairShares([100, 2, 100], 22)).toEqual([10, 2, 10])
  expect(fairShares([100, 2], -5)).toEqual([0, 0])
})

test('no share exceeds its need, and all together never the total', () => {
  const size = fc.nat(10_000)
  fc.assert(
    fc.property(fc.array(size, { maxLength: 8 }), size, (needs, total) => {
      const shares = fairShares(needs, total)
      const sum = shares.reduce((sum, share) => sum + share, 0)
      expect(sum).toBeLessThanOrEqual(total)
      for (const [index, share] of shares.entries()) expect(share).toBeLessThanOrEqual(needs[index] ?? 0)
      // Nothing is left over that somebody needs, but for the rounding.
      const needed = needs.reduce((sum, need) => sum + need, 0)
      expect(Math.min(needed, total) - sum).toBeLessThan(Math.max(1, needs.length))
    }),
  )
})
