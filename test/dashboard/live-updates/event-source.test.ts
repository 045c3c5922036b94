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
  const asked: { at: number; after: string | null }[] = []
  vi.stubGlobal('fetch', (_: string, { headers, signal }: RequestInit) => {
    asked.push({ at: Date.now(), after: new Headers(headers).get('last-event-id') })
    return Promise.race([
      Promise.resolve().then(respond),
      new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ])
  })
  const states: string[] = []
  const events: LiveEvent[] = []
  const leaving = new AbortController()
  const network = new EventTarget()
  void listen('/api/stream', {
    onEvents: (more) => events.push(...more),
    onState: (state) => states.push(state),
    onSignedOut: () => states.push('signed out'),
    network,
    lastEventId: undefined,
    signal: leaving.signal,
  })
  return { asked, states, events, network, leave: () => leaving.abort() }
}

describe('the stream of changes', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  test('is found again within three seconds, however long the service was away', async () => {
    let isAway = true
    const { states, asked, leave } = given(() => {
      if (isAway) throw new TypeError('Failed to fetch')
      return streamOf()
    })
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(states).not.toContain('open')
    // And it does not ask as fast as it can.
    expect(asked.length).toBeLessThan(10 * 60 * 2)
    isAway = false
    await vi.advanceTimersByTimeAsync(3_000)
    expect(states.at(-1)).toBe('open')
    leave()
  })

  test('is given up where nothing responds, and asked for again', async () => {
    let isSilent = true
    const { states, leave } = given(() => (isSilent ? new Promise<never>(() => {}) : streamOf()))
    await vi.advanceTimersByTimeAsync(20_000)
    isSilent = false
    await vi.advanceTimersByTimeAsync(8_000)
    expect(states.at(-1)).toBe('open')
    leave()
  })

  test('is asked for at once when the network is back', async () => {
    const { asked, network, leave } = given(() => {
      throw new TypeError('Failed to fetch')
    })
    await vi.advanceTimersByTimeAsync(MINUTE)
    const before = asked.length
    network.dispatchEvent(new Event('online'))
    await vi.advanceTimersByTimeAsync(0)
    expect(asked.length).toBe(before + 1)
    leave()
  })

  test('goes on after the last event it heard', async () => {
    const { asked, events, leave } = given(
      () => new Response('id: 7\nevent: task.created\ndata: {"id":"a"}\n\n: alive\n\n'),
    )
    await vi.advanceTimersByTimeAsync(3_000)
    expect(events[0]).toEqual({ id: '7', type: 'task.created', data: { id: 'a' } })
    expect(asked[1]?.after).toBe('7')
    leave()
  })

  test('waits longer where too much was asked for', async () => {
    const { asked, leave } = given(() => new Response(null, { status: 429 }))
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(asked.length).toBeLessThan(40)
    leave()
  })

  test.each([401, 403])('ends with the session: %d', async (status) => {
    const { asked, states } = given(() => new Response(null, { status }))
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(asked).toHaveLength(1)
    expect(states.includes('signed out')).toBe(status === 401)
  })

  test('ends when nobody listens', async () => {
    const { asked, leave } = given(() => {
      throw new TypeError('Failed to fetch')
    })
    leave()
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(asked).toHaveLength(1)
  })
})
