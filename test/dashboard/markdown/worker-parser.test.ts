import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Parsed } from '../../../src/dashboard/markdown/parse.ts'
import {
  type ParserWorker,
  parserOffThread,
  type WorkerEvents,
} from '../../../src/dashboard/markdown/worker-parser.ts'

const DEADLINE_MS = 1_000
const FINE: Parsed = { chunks: [] }

interface FakeWorker extends ParserWorker {
  events: WorkerEvents
  isEnded: boolean
  texts: string[]
}

/** A parser, and the workers it started. */
function given() {
  const workers: FakeWorker[] = []
  const start = (events: WorkerEvents) => {
    const worker: FakeWorker = {
      events,
      isEnded: false,
      texts: [],
      postMessage: (text) => void worker.texts.push(text),
      terminate() {
        worker.isEnded = true
      },
    }
    workers.push(worker)
    return worker
  }
  const parser = parserOffThread({ start, deadlineMs: DEADLINE_MS })
  const results: Record<string, Parsed> = {}
  const parse = (text: string) =>
    parser.parse(text, (parsed) => {
      results[text] = parsed
    })
  const say = (data: 'ready' | Parsed, worker = workers.at(-1)) => worker?.events.onMessage(data)
  return { parser, workers, results, parse, say }
}

describe('parsing off the main thread', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is done one text after the other, by one worker', () => {
    const { workers, results, parse, say } = given()
    parse('a')
    parse('b')
    expect(workers.map(({ texts }) => texts)).toEqual([[]])
    say('ready')
    expect(workers[0]?.texts).toEqual(['a'])
    say(FINE)
    expect(workers[0]?.texts).toEqual(['a', 'b'])
    say(FINE)
    expect(results).toEqual({ a: FINE, b: FINE })
    expect(workers).toHaveLength(1)
  })

  test('ends what takes too long, and goes on with the next text in a new worker', () => {
    const { parser, workers, results, parse, say } = given()
    parse('endless')
    parse('b')
    say('ready')
    vi.advanceTimersByTime(DEADLINE_MS)
    expect(results).toEqual({ endless: { plainBecause: 'too-slow' } })
    expect(workers.map(({ isEnded }) => isEnded)).toEqual([true, false])
    say('ready')
    say(FINE)
    expect(results.b).toEqual(FINE)
    vi.advanceTimersByTime(DEADLINE_MS)
    expect(workers[1]?.isEnded).toBe(false)
    // It is not tried again.
    expect(parser.known('endless')).toEqual({ plainBecause: 'too-slow' })
  })

  test('counts no time before the worker is there', () => {
    const { results, parse, say } = given()
    parse('a')
    vi.advanceTimersByTime(60_000)
    expect(results).toEqual({})
    say('ready')
    say(FINE)
    expect(results).toEqual({ a: FINE })
  })

  test('is given up for now where the worker cannot be had, and tried again later', () => {
    const { parser, workers, results, parse, say } = given()
    parse('a')
    workers[0]?.events.onError()
    expect(results).toEqual({ a: { plainBecause: 'not-available' } })
    expect(parser.known('a')).toBeUndefined()
    parse('a')
    say('ready')
    say(FINE)
    expect(results).toEqual({ a: FINE })
  })

  test('is left out for what nobody waits for', () => {
    const { workers, results, parse, say } = given()
    parse('a')
    const leaveB = parse('b')
    parse('c')
    leaveB()
    say('ready')
    say(FINE)
    say(FINE)
    expect(workers[0]?.texts).toEqual(['a', 'c'])
    expect(Object.keys(results)).toEqual(['a', 'c'])
  })

  test('keeps what it found for whoever comes back, and no more than some of it', () => {
    const { parser, parse, say } = given()
    parse('first')
    say('ready')
    say(FINE)
    expect(parser.known('first')).toEqual(FINE)
    for (let count = 0; count < 30; count++) {
      parse(`text ${count}`)
      say(FINE)
    }
    expect(parser.known('first')).toBeUndefined()
    expect(parser.known('text 29')).toEqual(FINE)
  })
})
