import { notifySignedOut } from '../api/client.ts'
import { type LiveEvent, listen } from './event-source.ts'

const LOCK = 'inlet-stream'

type StreamMessage =
  | { kind: 'events'; events: LiveEvent[] }
  | { kind: 'state'; state: 'open' | 'disconnected' }
  | { kind: 'state-request' }

export interface StreamHandlers {
  onEvents(events: LiveEvent[]): void
  onState(state: 'open' | 'disconnected'): void
  /** This tab now reads the stream and has no last event id to resume after. */
  onLeadWithoutId(): void
}

/**
 * One stream for all tabs, because browsers allow six connections to one host. The tab with the lock reads it and
 * broadcasts. Without the Locks API (plain HTTP from another host) each tab reads its own.
 */
export function followSharedStream(
  url: string,
  { onEvents, onState, onLeadWithoutId }: StreamHandlers,
): () => void {
  const closing = new AbortController()
  let lastId: string | undefined
  let state: 'open' | 'disconnected' = 'disconnected'

  function receive(events: LiveEvent[]) {
    lastId = events.findLast(({ id }) => id !== null)?.id ?? lastId
    onEvents(events)
  }

  if (!navigator.locks) {
    void listen(url, {
      onEvents: receive,
      onState,
      onSignedOut: notifySignedOut,
      network: window,
      lastEventId: undefined,
      signal: closing.signal,
    })
    return () => closing.abort()
  }

  const channel = new BroadcastChannel(LOCK)
  let isLeader = false
  channel.onmessage = ({ data }: MessageEvent<StreamMessage>) => {
    if (data.kind === 'events') receive(data.events)
    if (data.kind === 'state') onState(data.state)
    if (data.kind === 'state-request' && isLeader) channel.postMessage({ kind: 'state', state })
  }
  channel.postMessage({ kind: 'state-request' } satisfies StreamMessage)

  const broadcast = (message: StreamMessage) => !closing.signal.aborted && channel.postMessage(message)
  navigator.locks
    .request(LOCK, { signal: closing.signal }, async () => {
      isLeader = true
      if (lastId === undefined) onLeadWithoutId()
      await listen(url, {
        lastEventId: lastId,
        signal: closing.signal,
        onSignedOut: notifySignedOut,
        network: window,
        onEvents(events) {
          receive(events)
          broadcast({ kind: 'events', events })
        },
        onState(newState) {
          state = newState
          onState(newState)
          broadcast({ kind: 'state', state: newState })
        },
      })
    })
    .catch(() => {
      // Aborted while waiting for the lock.
    })

  return () => {
    closing.abort()
    channel.close()
  }
}
