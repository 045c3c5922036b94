import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { BaseLogger } from 'pino'

/** Responds to what Node refuses before there is a request: on the bare socket, in the format of all errors. */
const REFUSALS: Record<string, [status: number, reason: string, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time.'],
}
const MALFORMED = [400, 'Bad Request', 'The request is not valid HTTP/1.1.'] as const

interface Refused {
  socket: Socket
  logger: Pick<BaseLogger, 'info'>
}

export function refuseMalformed(error: NodeJS.ErrnoException, { socket, logger }: Refused): void {
  // The client has disconnected.
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const [status, title, detail] = REFUSALS[error.code ?? ''] ?? MALFORMED
  const requestId = randomUUID()
  const code = 'bad_request'
  logger.info({ reqId: requestId, status, code, address: socket.remoteAddress }, 'request completed')
  const body = JSON.stringify({
    type: '/problems/bad_request',
    title,
    status,
    code,
    detail,
    requestId,
  })
  socket.write(
    [
      `HTTP/1.1 ${status} ${title}`,
      'Connection: close',
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      '',
      body,
    ].join('\r\n'),
  )
  // Not just ended: a client that never ends its side would keep the connection.
  socket.destroySoon()
}
