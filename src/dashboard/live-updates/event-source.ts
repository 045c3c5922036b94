/** One event of the stream. */
export interface LiveEvent {
  id: string | null
  type: string
  data: unknown
}

interface Listening {
  onEvents(events: LiveEvent[]): void
  onState(state: 'open' | 'lost'): void
  onSignedOut(): void
  /** Says `online` when this machine has its network back. */
  network: EventTarget
  lastEventId: string | undefined
  signal: AbortSignal
}

/** A service that is back is found again within three seconds, however long it was away. */
const MAX_WAIT_MS = 1_500
/** Who asks for too much waits longer. */
const MAX_LIMITED_WAIT_MS = 30_000
/** An attempt that hears nothing for so long is given up. */
const CONNECT_MS = 5_000
/** The service says something every 15 seconds; silence for longer is a dead connection. */
export const MAX_SILENCE_MS = 40_000

/**
 * Follows the stream until told to stop. The browser's own EventSource gives up when the service answers 503 once,
 * and a new one cannot say where it was; this one always goes on after the last entry it saw.
 */
export async function listen(
  address: string,
  { onEvents, onState, onSignedOut, network, lastEventId, signal }: Listening,
) {
  let last = lastEventId
  for (let attempt = 0; !signal.aborted; attempt++) {
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), CONNECT_MS)
    let longestWait = MAX_WAIT_MS
    try {
      const response = await fetch(address, {
        headers: { accept: 'text/event-stream', ...(last && { 'last-event-id': last }) },
        signal: AbortSignal.any([signal, silence.signal]),
      })
      if (response.status === 401) onSignedOut()
      if (response.status === 401 || response.status === 403) return onState('lost')
      if (response.status === 429) longestWait = MAX_LIMITED_WAIT_MS
      if (!response.ok || !response.body) throw new Error(`The stream answered ${response.status}.`)
      attempt = 0
      onState('open')
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS)
      for await (const events of framesOf(response.body)) {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS)
        last = events.findLast(({ id }) => id !== null)?.id ?? last
        if (events.length > 0) onEvents(events)
      }
    } catch {
      // Whatever it was, the answer is to come back.
    } finally {
      clearTimeout(timer)
    }
    if (signal.aborted) return
    onState('lost')
    await pause(Math.min(longestWait, 500 * 2 ** attempt) * (0.7 + Math.random() * 0.6), network, signal)
  }
}

async function pause(ms: number, network: EventTarget, signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  network.addEventListener('online', () => resolve(), { once: true, signal })
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
}

async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<LiveEvent[]> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    yield frames.flatMap((frame) => eventFrom(frame) ?? [])
  }
}

function eventFrom(frame: string): LiveEvent | undefined {
  const fields = new Map<string, string>()
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
  }
  const data = fields.get('data')
  if (data === undefined) return undefined
  return { id: fields.get('id') ?? null, type: fields.get('event') ?? 'message', data: JSON.parse(data) }
}
