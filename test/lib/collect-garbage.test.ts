import { constants, PerformanceObserver } from 'node:perf_hooks'
import { afterAll, expect, test } from 'vitest'
import { collectCodeAndGarbage, collectGarbage } from '../../src/lib/collect-garbage.ts'

const kinds: unknown[] = []
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) kinds.push(kindOf(entry))
})
observer.observe({ entryTypes: ['gc'] })
afterAll(() => observer.disconnect())

test.each([
  ['alone', collectGarbage],
  ['and code', collectCodeAndGarbage],
])('garbage %s is collected at once', async (_, collect) => {
  kinds.length = 0
  collect()
  await expect.poll(() => kinds).toContain(constants.NODE_PERFORMANCE_GC_MAJOR)
})

/** Node's types leave out what the entries of garbage collection add. */
const kindOf = (entry: object) => (entry as { detail: { kind: number } }).detail.kind
