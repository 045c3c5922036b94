import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type LiveEvent, listen } from '../../../src/dashboard/live-updates/event-source.ts'

const MINUTE = 60_000

/** A stream that stays open, having said this. */
const streamOf = (text = '') =>
  new Response(
    new ReadableStream({
      start(controller) {
        if (text) controller.enqueue(new TextEncoder().encode(text))
      },
    }),
  )

/** Somebody who listens to a service that responds like this. */
function given(respond: () => Response | Promise<Response>) {
  const requests: { time: number; after: string | null }[] = []
  vi.stubGlobal('fetch', (_: string, { headers, signal }: RequestInit) => {
    requests.push({ time: Date.now(), after: new Headers(headers).get('last-event-id') })
    return Promise.race([
      Promise.resolve().then(respond),
      new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ])
  })
  const states: string[] = []
  const events: LiveEvent[] = []
  const closing = new AbortController()
  const network = new EventTarget()
  void listen('/api/stream', {
    onEvents: (more) => events.push(...more),
    onState: (state) => states.push(state),
    onSignedOut: () => states.push('signed out'),
    network,
    lastEventId: undefined,
    signal: closing.signal,
  })
  return { requests, states, events, network, signal: closing.signal, close: () => closing.abort() }
}

describe('the event stream', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  test('reconnects within 3 seconds after any downtime', async () => {
    let isUnavailable = true
    const { states, requests, close } = given(() => {
      if (isUnavailable) throw new TypeError('Failed to fetch')
      return streamOf()
    })
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(states).not.toContain('open')
    // And it does not ask as fast as it can.
    expect(requests.length).toBeLessThan(10 * 60 * 2)
    isUnavailable = false
    await vi.advanceTimersByTimeAsync(3_000)
    expect(states.at(-1)).toBe('open')
    close()
  })

  test('reconnects when a request gets no response', async () => {
    let isSilent = true
    const { states, close } = given(() => (isSilent ? new Promise<never>(() => {}) : streamOf()))
    await vi.advanceTimersByTimeAsync(20_000)
    isSilent = false
    await vi.advanceTimersByTimeAsync(8_000)
    expect(states.at(-1)).toBe('open')
    close()
  })

  test('reconnects immediately when the network is back', async () => {
    const { requests, network, close } = given(() => {
      throw new TypeError('Failed to fetch')
    })
    await vi.advanceTimersByTimeAsync(MINUTE)
    const before = requests.length
    network.dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(0)
    expect(requests.length).toBe(before + 1)
    close()
  })

  test('removes the listeners of each pause', async () => {
    const { network, signal, close } = given(() => {
      throw new TypeError('Failed to fetch')
    })
    const listeners = () => [
      getEventListeners(network, 'online').length,
      getEventListeners(signal, 'abort').length,
    ]
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(listeners()).toEqual([1, 1])
    close()
    await vi.advanceTimersByTimeAsync(0)
    expect(listeners()).toEqual([0, 0])
  })

  test('resumes after the last event', async () => {
    const { requests, events, close } = given(
      () => new Response(': here\nid: 6\n\nid: 7\nevent: task.created\ndata: {"id":"a"}\n\n: alive\n\n'),
    )
    await vi.advanceTimersByTimeAsync(3_000)
    expect(events[0]).toEqual({ id: '7', type: 'task.created', data: { id: 'a' } })
    expect(requests[1]?.after).toBe('7')
    close()
  })

  test('waits longer after status 429', async () => {
    const { requests, close } = given(() => new Response(null, { status: 429 }))
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(requests.length).toBeLessThan(40)
    close()
  })

  test.each([401, 403])('stops when the session has ended: %d', async (status) => {
    const { requests, states } = given(() => new Response(null, { status }))
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(requests).toHaveLength(1)
    expect(states.includes('signed out')).toBe(status === 401)
  })

  test('stops when it is aborted', async () => {
    const { requests, close } = given(() => {
      throw new TypeError('Failed to fetch')
    })
    close()
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(requests).toHaveLength(1)
  })
})
