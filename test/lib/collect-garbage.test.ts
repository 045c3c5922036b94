import { expect, test } from 'vitest'
import { collectGarbage, collectRecentGarbage } from '../../src/lib/collect-garbage.ts'

const MIB = 1024 * 1024

test.each([
  ['all', collectGarbage],
  ['what was allocated last', collectRecentGarbage],
])('memory that nothing refers to is free at once: %s', (_, collect) => {
  collect()
  const before = process.memoryUsage().arrayBuffers
  const isAllocated = () => {
    for (let n = 0; n < 20; n++) Buffer.alloc(MIB).fill(1)
    return process.memoryUsage().arrayBuffers - before > MIB
  }
  expect(isAllocated()).toBe(true)
  collect()
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MIB)
})
