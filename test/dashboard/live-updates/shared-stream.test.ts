import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { LiveEvent } from '../../../src/dashboard/live-updates/event-source.ts'
import { followSharedStream } from '../../../src/dashboard/live-updates/shared-stream.ts'

let service: ReturnType<typeof startService>
let stops: (() => void)[]

beforeEach(() => {
  service = startService()
  stops = []
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('navigator', { locks: createLocks() })
})
afterEach(() => {
  for (const stop of stops) stop()
  vi.unstubAllGlobals()
})

describe('the stream of several tabs', () => {
  test('is read by one tab, and the others receive its events', async () => {
    const [first, second] = [openTab(), openTab()]
    await expect.poll(() => [first.states.at(-1), second.states.at(-1)]).toEqual(['open', 'open'])
    service.send('1')
    await expect.poll(() => [first.ids, second.ids]).toEqual([['1'], ['1']])
    expect(service.requests).toEqual([null])
  })

  test('is resumed by another tab after the last event', async () => {
    const [first, second] = [openTab(), openTab()]
    await expect.poll(() => second.states.at(-1)).toBe('open')
    service.send('1')
    await expect.poll(() => second.ids).toEqual(['1'])
    first.stop()
    await expect.poll(() => service.requests).toEqual([null, '1'])
    service.send('2')
    await expect.poll(() => second.ids).toEqual(['1', '2'])
    expect(first.ids).toEqual(['1'])
  })

  test('reports its state to a tab that is opened later', async () => {
    const first = openTab()
    await expect.poll(() => first.states.at(-1)).toBe('open')
    const second = openTab()
    await expect.poll(() => second.states).toEqual(['open'])
  })

  test('may have gaps for a tab that takes over without an event id', async () => {
    const [first, second] = [openTab(), openTab()]
    await expect.poll(() => second.states.at(-1)).toBe('open')
    expect([first.gaps(), second.gaps()]).toEqual([1, 0])
    first.stop()
    await expect.poll(second.gaps).toBe(1)
  })

  test('is read by each tab where the browser has no locks', async () => {
    vi.stubGlobal('navigator', {})
    const [first, second] = [openTab(), openTab()]
    await expect.poll(() => service.requests).toEqual([null, null])
    service.send('1')
    await expect.poll(() => [first.ids, second.ids]).toEqual([['1'], ['1']])
  })
})

function openTab() {
  const ids: (string | null)[] = []
  const states: string[] = []
  let gapCount = 0
  const stop = followSharedStream('/api/stream', {
    onEvents: (events: LiveEvent[]) => ids.push(...events.map(({ id }) => id)),
    onState: (state) => states.push(state),
    onLeadWithoutId: () => gapCount++,
  })
  stops.push(stop)
  return { ids, states, gaps: () => gapCount, stop }
}

/** Streams that stay open; `requests` are their Last-Event-ID headers. */
function startService() {
  const requests: (string | null)[] = []
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>()
  vi.stubGlobal('fetch', async (_: string, { headers, signal }: RequestInit) => {
    requests.push(new Headers(headers).get('last-event-id'))
    return new Response(
      new ReadableStream({
        start(controller) {
          streams.add(controller)
          signal?.addEventListener('abort', () => {
            if (streams.delete(controller)) controller.error(signal.reason)
          })
        },
      }),
    )
  })
  return {
    requests,
    send(id: string) {
      for (const stream of streams)
        stream.enqueue(new TextEncoder().encode(`id: ${id}\nevent: activity\ndata: {}\n\n`))
    },
  }
}

/** The part of the Locks API that is used: one holder, the others wait in order. */
function createLocks() {
  let last: Promise<unknown> = Promise.resolve()
  return {
    request(_: string, { signal }: { signal: AbortSignal }, callback: () => Promise<void>) {
      const granted = last.then(() => (signal.aborted ? Promise.reject(signal.reason) : callback()))
      last = granted.catch(() => {})
      return granted
    },
  }
}
