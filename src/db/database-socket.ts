import { Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'

/**
 * A socket that closes when it receives nothing for this long (0: never), even if TCP reports it open, and when `cut` is
 * aborted. The driver's own `query_timeout` would pass the connection on to the next request.
 */
export function databaseSocket(silenceMs: number, cut?: AbortSignal): Socket {
  const socket = new Socket()
  socket.setTimeout(silenceMs, () => {
    const message = `no response from the database for ${silenceMs / 1_000} s`
    socket.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }))
  })
  return cut ? addAbortSignal(cut, socket) : socket
}
