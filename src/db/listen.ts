import pg from 'pg'
import { databaseSocket } from './database-socket.ts'

const RECONNECT_MS = 500

interface ListenOptions {
  connectionString: string
  /**
   * By channel: called with each notification, and without payload when listening starts, at first and after each
   * reconnect, because notifications in between are lost.
   */
  channels: Record<string, (payload: string) => void>
  onError(error: Error): void
  /** Aborted: the connection closes at once. */
  cut?: AbortSignal | undefined
  /** How long a response may take before the connection counts as dead; it is checked twice as often. */
  silenceMs?: number
}

/** Listens to notifications of other instances on a dedicated connection that reconnects. */
export function listen({ connectionString, channels, onError, cut, silenceMs = 8_000 }: ListenOptions) {
  let isClosed = false
  let client: pg.Client | undefined
  let isListening = false
  let timer: NodeJS.Timeout | undefined
  let connecting = connect()
  const firstAttempt = connecting

  async function connect() {
    const fresh = new pg.Client({
      connectionString,
      application_name: 'inlet listen',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      stream: () => databaseSocket(silenceMs, cut),
    })
    client = fresh
    fresh.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload))
    fresh.on('error', onError)
    // A connection that only listens does not detect that its peer has disappeared, so it is queried periodically.
    let isAsked = true
    const asking = setInterval(() => {
      if (!isAsked) void fresh.query('select 1').then(onResponse, () => {})
      isAsked = true
    }, silenceMs / 2)
    const onResponse = () => {
      isAsked = false
    }
    fresh.once('end', () => {
      clearInterval(asking)
      isListening = false
      if (isClosed) return
      timer = setTimeout(() => {
        connecting = connect()
      }, RECONNECT_MS)
    })
    try {
      await fresh.connect()
      for (const channel of Object.keys(channels)) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
      onResponse()
      isListening = true
      for (const onNotice of Object.values(channels)) onNotice('')
    } catch (error) {
      onError(error as Error)
      await fresh.end().catch(() => {})
    }
  }

  return {
    /** Resolves when listening, or when the first attempt has failed. */
    ready: firstAttempt,

    /** Whether it is connected, as far as it knows: a silent connection counts for the time of `silenceMs`. */
    isListening: () => isListening,

    async close(): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      await connecting
      await client?.end()
    },
  }
}
