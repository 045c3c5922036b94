import pg from 'pg'
import { databaseSocket } from './database-socket.ts'

/** The name of each listening connection in `pg_stat_activity`: one for each instance. */
export const LISTENER = 'inlet listen'

/**
 * The class of the advisory lock that a listening connection shares with those of the same encryption key. It excludes
 * nobody: `pg_locks` shows which key an instance encrypts with.
 */
export const KEY_LOCK = 7_461_006

/** The second number of that lock, as `pg_locks` shows it. */
export const keyLockId = (keyId: string) => Number.parseInt(keyId.slice(0, 8), 16)

const RECONNECT_MS = 500

interface ListenOptions {
  connectionString: string
  /**
   * By channel: called with each notification, and without payload when listening starts, at first and after each
   * reconnect, because notifications in between are lost. If it throws, it is called again without payload.
   */
  channels: Record<string, (payload: string) => void>
  /** The id of the key that this instance encrypts with. */
  keyId?: string | undefined
  onError(error: Error): void
  /** A notification cannot be read: what it said is not known. */
  onUnreadable?: ((about: { channel: string; reason: string }) => void) | undefined
  /** Aborted: the connection closes at once. */
  cut?: AbortSignal | undefined
  /** How long a response may take before the connection counts as dead; it is checked twice as often. */
  silenceMs?: number
}

/** Listens to notifications of other instances on a dedicated connection that reconnects. */
export function listen({ connectionString, channels, onError, onUnreadable, ...options }: ListenOptions) {
  const { keyId, cut, silenceMs = 8_000 } = options
  let isClosed = false
  let client: pg.Client | undefined
  let isListening = false
  let timer: NodeJS.Timeout | undefined
  let connecting = connect()
  const firstAttempt = connecting

  async function connect() {
    const fresh = new pg.Client({
      connectionString,
      application_name: LISTENER,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      stream: () => databaseSocket(silenceMs, cut),
    })
    client = fresh
    fresh.on('notification', ({ channel, payload = '' }) => receive(channel, payload))
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
      // `| 0`, because the statement takes a signed number.
      if (keyId) await fresh.query('select pg_advisory_lock_shared($1, $2)', [KEY_LOCK, keyLockId(keyId) | 0])
      for (const channel of Object.keys(channels)) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
      onResponse()
      isListening = true
      for (const onNotice of Object.values(channels)) onNotice('')
    } catch (error) {
      onError(error as Error)
      await fresh.end().catch(() => {})
    }
  }

  // Every role of the database may notify, with any payload: one that cannot be read may mean anything, like none.
  function receive(channel: string, payload: string) {
    try {
      channels[channel]?.(payload)
    } catch (error) {
      onUnreadable?.({ channel, reason: (error as Error).message })
      channels[channel]?.('')
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
