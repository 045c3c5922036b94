import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, describe, expect, test } from 'vitest'
import type { SourceDefinition } from '../../../src/domain/sources/templates.ts'
import { payloadReader } from '../../../src/services/sources/reader.ts'

const reader = payloadReader()
afterAll(() => reader.close())

const titled = (title: string): SourceDefinition => ({
  ...{ each: null, filter: null, clears: [] },
  template: { title },
})
const read = (title: string, payload: unknown = {}) =>
  reader.read({ definition: titled(title), bytes: Buffer.from(JSON.stringify(payload)) })

/** The longest time in milliseconds that the event loop was blocked while `work` ran; the best of three runs. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  await work()
  const blocks: number[] = []
  for (let run = 0; run < 3 && !blocks.some((ms) => ms < MAX_BLOCK_MS); run++) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    await work()
    delay.disable()
    blocks.push(delay.max / 1e6)
  }
  return Math.min(...blocks)
}

const MAX_BLOCK_MS = 50

describe('templates that take long', () => {
  const words = { words: Array.from({ length: 100_000 }, (_, index) => `word ${index}`) }
  test.each<[string, string, unknown]>([
    ['loop', '{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}', {}],
    ['sort and join all', '{{ payload.words | sort | join: "," | split: "" | uniq | size }}', words],
    ['render 1 MiB', '{{ payload.words | json | slice: 0, 100 }}', words],
  ])('do not block the event loop: %s', async (_, title, payload) => {
    expect(await longestBlock(() => read(title, payload))).toBeLessThan(MAX_BLOCK_MS)
  })

  test('are ended by the deadline, and the next delivery is read', async () => {
    // One filter, so no limit of Liquid's is looked at while it runs.
    const slow = '{{ payload.words | where_exp: "x", "payload.words contains x.y" | size }}'
    const many = { words: Array.from({ length: 40_000 }, (_, index) => ({ y: `word ${index}` })) }
    expect(await read(slow, many)).toMatchObject({
      outcome: 'rejected',
      errors: [{ path: '/template', code: 'template_failed' }],
      stored: { payloadCut: true },
    })
    expect(await read('{{ payload.a }}', { a: 'Next' })).toMatchObject({
      outcome: 'accepted',
      tasks: [{ task: { title: 'Next' } }],
    })
  })
})

describe('sources take turns', () => {
  const LOOP = titled('{% for a in (1..30000) %}{% for b in (1..30000) %}{% endfor %}{% endfor %}')
  const bytes = Buffer.from('{}')
  const reader = payloadReader()
  afterAll(() => reader.close())

  test('so that those that are quick do not wait behind one that loops', async () => {
    const ended: string[] = []
    const read = async (definition: SourceDefinition, name: string) => {
      await reader.read({ definition, bytes }, name)
      ended.push(name)
    }
    const looping = Array.from({ length: 3 }, () => read(LOOP, 'looping'))
    await Promise.all([read(titled('A'), 'one'), read(titled('B'), 'other'), reader.check(titled('C'))])
    expect(ended.toSorted()).toEqual(['one', 'other'])
    await Promise.all(looping)
    expect(ended).toHaveLength(5)
  })

  test('so that tests of templates do not wait behind a test that loops', async () => {
    let isEnded = false
    const looping = reader.read({ definition: LOOP, bytes }).then(() => {
      isEnded = true
    })
    await reader.read({ definition: titled('A'), bytes })
    expect(isEnded).toBe(false)
    await looping
  })
})

describe('a thread that is not there', () => {
  const unavailable = { code: 'unavailable', extras: { retryAfterSeconds: 1 } }
  const started: ReturnType<typeof payloadReader>[] = []
  const start = (options: Parameters<typeof payloadReader>[0]) => {
    const reader = payloadReader(options)
    started.push(reader)
    return reader
  }
  afterAll(() => Promise.all(started.map(({ close }) => close())))

  test('because it does not start in time is not the fault of the templates', async () => {
    const { read, check } = start({ file: new URL('./slow-worker.ts', import.meta.url), startDeadlineMs: 50 })
    await expect(read({ definition: titled('T'), bytes: Buffer.from('{}') })).rejects.toMatchObject(
      unavailable,
    )
    await expect(check(titled('T'))).rejects.toMatchObject(unavailable)
  })

  test('because it ends while templates are checked is no error of theirs', async () => {
    const { check } = start({ file: new URL('./ending-worker.ts', import.meta.url) })
    await expect(check(titled('T'))).rejects.toMatchObject(unavailable)
  })

  test('because it is closed is not the fault of the templates', async () => {
    const reader = start({})
    const reading = reader.read({
      definition: titled('{% for a in (1..9000000) %}{% endfor %}'),
      bytes: Buffer.from('{}'),
    })
    const refused = expect(reading).rejects.toMatchObject(unavailable)
    await reader.close()
    await refused
  })
})
