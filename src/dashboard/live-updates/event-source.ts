export interface LiveEvent {
  /** Where to resume; null for events that are not stored. The id of an activity is in `data`. */
  id: string | null
  type: string
  data: unknown
}

interface ListenOptions {
  onEvents(events: LiveEvent[]): void
  onState(state: 'open' | 'disconnected'): void
  onSignedOut(): void
  /** Dispatches `online` when the network is back. */
  network: EventTarget
  lastEventId: string | undefined
  signal: AbortSignal
}

/** Reconnects within 3 seconds after any downtime. */
const MAX_RETRY_DELAY_MS = 1_500
/** After status 429. */
const MAX_RATE_LIMITED_DELAY_MS = 30_000
const CONNECT_TIMEOUT_MS = 5_000
/** The service sends a heartbeat every 15 seconds. */
export const IDLE_TIMEOUT_MS = 40_000

/**
 * Reads the stream until aborted. The browser's EventSource stops for good after a 503 and cannot resume from an id
 * in a new instance; this resumes after the last id.
 */
export async function listen(
  url: string,
  { onEvents, onState, onSignedOut, network, lastEventId, signal }: ListenOptions,
) {
  let lastId = lastEventId
  for (let attempt = 0; !signal.aborted; attempt++) {
    const timeout = new AbortController()
    let timer = setTimeout(() => timeout.abort(), CONNECT_TIMEOUT_MS)
    let maxDelayMs = MAX_RETRY_DELAY_MS
    try {
      const response = await fetch(url, {
        headers: { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) },
        signal: AbortSignal.any([signal, timeout.signal]),
      })
      if (response.status === 401) onSignedOut()
      if (response.status === 401 || response.status === 403) return onState('disconnected')
      if (response.status === 429) maxDelayMs = MAX_RATE_LIMITED_DELAY_MS
      if (!response.ok || !response.body) throw new Error(`The stream returned ${response.status}.`)
      attempt = 0
      onState('open')
      clearTimeout(timer)
      timer = setTimeout(() => timeout.abort(), IDLE_TIMEOUT_MS)
      for await (const events of readEvents(response.body)) {
        clearTimeout(timer)
        timer = setTimeout(() => timeout.abort(), IDLE_TIMEOUT_MS)
        lastId = events.findLast(({ id }) => id !== null)?.id ?? lastId
        const withData = events.filter(({ data }) => data !== undefined)
        if (withData.length > 0) onEvents(withData)
      }
    } catch {
      // Any failure leads to a reconnect.
    } finally {
      clearTimeout(timer)
    }
    if (signal.aborted) return
    onState('disconnected')
    const delayMs = Math.min(maxDelayMs, 500 * 2 ** attempt) * (0.7 + Math.random() * 0.6)
    await pause({ ms: delayMs, network, signal })
  }
}

interface Pause {
  ms: number
  network: EventTarget
  signal: AbortSignal
}

/** Ends early when the network is back or the signal aborts. Removes its listeners: an outage has many pauses. */
async function pause({ ms, network, signal }: Pause) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const listeners = new AbortController()
  const timer = setTimeout(resolve, ms)
  network.addEventListener('online', () => resolve(), { signal: listeners.signal })
  signal.addEventListener('abort', () => resolve(), { signal: listeners.signal })
  await promise
  clearTimeout(timer)
  listeners.abort()
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<LiveEvent[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    const messages = text.split('\n\n')
    text = messages.pop() ?? ''
    yield messages.map(parseEvent)
  }
}

/** A heartbeat has no data. */
function parseEvent(message: string): LiveEvent {
  const fields = new Map<string, string>()
  for (const line of message.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
  }
  const data = fields.get('data')
  return {
    id: fields.get('id') ?? null,
    type: fields.get('event') ?? 'message',
    data: data && JSON.parse(data),
  }
}
