import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Parsed } from '../../../src/dashboard/markdown/parse.ts'
import {
  createWorkerParser,
  type ParserWorker,
  type WorkerEvents,
} from '../../../src/dashboard/markdown/worker-parser.ts'

const DEADLINE_MS = 1_000
const FINE: Parsed = { chunks: [] }

interface FakeWorker extends ParserWorker {
  events: WorkerEvents
  isTerminated: boolean
  texts: string[]
}

/** A parser, and the workers it started. */
function given() {
  const workers: FakeWorker[] = []
  const start = (events: WorkerEvents) => {
    const worker: FakeWorker = {
      events,
      isTerminated: false,
      texts: [],
      postMessage: (text) => void worker.texts.push(text),
      terminate() {
        worker.isTerminated = true
      },
    }
    workers.push(worker)
    return worker
  }
  const parser = createWorkerParser({ start, deadlineMs: DEADLINE_MS })
  const results: Record<string, Parsed> = {}
  const parse = (text: string) =>
    parser.parse(text, (parsed) => {
      results[text] = parsed
    })
  const respond = (data: 'ready' | Parsed, worker = workers.at(-1)) => worker?.events.onMessage(data)
  return { parser, workers, results, parse, respond }
}

describe('parsing in a worker', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('handles one text at a time in one worker', () => {
    const { workers, results, parse, respond } = given()
    parse('a')
    parse('b')
    expect(workers.map(({ texts }) => texts)).toEqual([[]])
    respond('ready')
    expect(workers[0]?.texts).toEqual(['a'])
    respond(FINE)
    expect(workers[0]?.texts).toEqual(['a', 'b'])
    respond(FINE)
    expect(results).toEqual({ a: FINE, b: FINE })
    expect(workers).toHaveLength(1)
  })

  test('terminates the worker at the deadline and parses the next text in a new one', () => {
    const { parser, workers, results, parse, respond } = given()
    parse('endless')
    parse('b')
    respond('ready')
    vi.advanceTimersByTime(DEADLINE_MS)
    expect(results).toEqual({ endless: { plainReason: 'too-slow' } })
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false])
    respond('ready')
    respond(FINE)
    expect(results.b).toEqual(FINE)
    vi.advanceTimersByTime(DEADLINE_MS)
    expect(workers[1]?.isTerminated).toBe(false)
    // It is not tried again.
    expect(parser.cached('endless')).toEqual({ plainReason: 'too-slow' })
  })

  test('starts the deadline when the worker is loaded', () => {
    const { results, parse, respond } = given()
    parse('a')
    vi.advanceTimersByTime(60_000)
    expect(results).toEqual({})
    respond('ready')
    respond(FINE)
    expect(results).toEqual({ a: FINE })
  })

  test('fails when the worker cannot be loaded and tries again with the next text', () => {
    const { parser, workers, results, parse, respond } = given()
    parse('a')
    workers[0]?.events.onError()
    expect(results).toEqual({ a: { plainReason: 'not-available' } })
    expect(parser.cached('a')).toBeUndefined()
    parse('a')
    respond('ready')
    respond(FINE)
    expect(results).toEqual({ a: FINE })
  })

  test('skips cancelled texts', () => {
    const { workers, results, parse, respond } = given()
    parse('a')
    const cancelB = parse('b')
    parse('c')
    cancelB()
    respond('ready')
    respond(FINE)
    respond(FINE)
    expect(workers[0]?.texts).toEqual(['a', 'c'])
    expect(Object.keys(results)).toEqual(['a', 'c'])
  })

  test('caches a limited number of results', () => {
    const { parser, parse, respond } = given()
    parse('first')
    respond('ready')
    respond(FINE)
    expect(parser.cached('first')).toEqual(FINE)
    for (let count = 0; count < 30; count++) {
      parse(`text ${count}`)
      respond(FINE)
    }
    expect(parser.cached('first')).toBeUndefined()
    expect(parser.cached('text 29')).toEqual(FINE)
  })
})
