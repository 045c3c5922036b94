import { constants, PerformanceObserver } from 'node:perf_hooks'
import { afterAll, expect, test } from 'vitest'
import { collectCodeAndGarbage, collectGarbage, collectRecentGarbage } from '../../src/lib/collect-garbage.ts'

const kinds: unknown[] = []
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) kinds.push(kindOf(entry))
})
observer.observe({ entryTypes: ['gc'] })
afterAll(() => observer.disconnect())

test.each([
  ['everything', collectGarbage, constants.NODE_PERFORMANCE_GC_MAJOR],
  ['code, too', collectCodeAndGarbage, constants.NODE_PERFORMANCE_GC_MAJOR],
  ['what was allocated last', collectRecentGarbage, constants.NODE_PERFORMANCE_GC_MINOR],
])('garbage is collected at once: %s', async (_, collect, kind) => {
  kinds.length = 0
  collect()
  await expect.poll(() => kinds).toContain(kind)
})

/** Node's types leave out what the entries of garbage collection add. */
const kindOf = (entry: object) => (entry as { detail: { kind: number } }).detail.kind
