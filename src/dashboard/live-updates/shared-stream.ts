import { sayThatSessionEnded } from '../api/client.ts'
import { type LiveEvent, listen } from './event-source.ts'

const LOCK = 'inlet-stream'

type Said =
  | { kind: 'events'; events: LiveEvent[] }
  | { kind: 'state'; state: 'open' | 'lost' }
  | { kind: 'who-listens' }

export interface SharedStream {
  onEvents(events: LiveEvent[]): void
  onState(state: 'open' | 'lost'): void
  /** This tab listens from now on, and knows no entry to go on after. */
  onBareStart(): void
}

/**
 * One stream for all tabs: a browser opens six connections to an address, and a seventh tab would stand still.
 * The tab that holds the lock listens and tells the others; when it closes, the next one goes on after the last
 * entry it heard. Where there are no locks (plain http from afar) each tab listens for itself.
 */
export function followTogether(
  address: string,
  { onEvents, onState, onBareStart }: SharedStream,
): () => void {
  const leaving = new AbortController()
  let last: string | undefined
  let state: 'open' | 'lost' = 'lost'

  function take(events: LiveEvent[]) {
    last = events.findLast(({ id }) => id !== null)?.id ?? last
    onEvents(events)
  }

  if (!navigator.locks) {
    void listen(address, {
      onEvents: take,
      onState,
      onSignedOut: sayThatSessionEnded,
      network: window,
      lastEventId: undefined,
      signal: leaving.signal,
    })
    return () => leaving.abort()
  }

  const channel = new BroadcastChannel(LOCK)
  let isListening = false
  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.kind === 'events') take(data.events)
    if (data.kind === 'state') onState(data.state)
    if (data.kind === 'who-listens' && isListening) channel.postMessage({ kind: 'state', state })
  }
  channel.postMessage({ kind: 'who-listens' } satisfies Said)

  const say = (said: Said) => !leaving.signal.aborted && channel.postMessage(said)
  navigator.locks
    .request(LOCK, { signal: leaving.signal }, async () => {
      isListening = true
      if (last === undefined) onBareStart()
      await listen(address, {
        lastEventId: last,
        signal: leaving.signal,
        onSignedOut: sayThatSessionEnded,
        network: window,
        onEvents(events) {
          take(events)
          say({ kind: 'events', events })
        },
        onState(now) {
          state = now
          onState(now)
          say({ kind: 'state', state: now })
        },
      })
    })
    .catch(() => {
      // Leaving while in the queue for the lock.
    })

  return () => {
    leaving.abort()
    channel.close()
  }
}
