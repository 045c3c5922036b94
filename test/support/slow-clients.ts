import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection that sends only what the test sends and reads only on demand. */
interface SlowClient {
  socket: Socket
  /** All that was read. */
  received(): string
  /** When the other side has ended it. */
  closed: Promise<unknown>
}

interface SlowClientOptions {
  bytes: (string | Buffer)[]
  isReading?: boolean
}

interface UnfinishedBody {
  headers: Record<string, string>
  length: number
  sent: number
}

/** Sends the bytes and then nothing. With `isReading: false` the response stays in the network. */
export async function slowClient(url: string, { bytes, isReading = true }: SlowClientOptions) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const parts: Buffer[] = []
  socket.on('error', () => undefined)
  const closed = once(socket, 'close').catch(() => undefined)
  if (isReading) socket.on('data', (part) => parts.push(part))
  await once(socket, 'connect')
  for (const part of bytes) socket.write(part)
  return { socket, closed, received: () => Buffer.concat(parts).toString() } satisfies SlowClient
}

/** The head of a request, and so many of its bytes; the rest of the body is withheld. */
export function unfinishedPost(path: string, { headers, length, sent }: UnfinishedBody) {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: inlet',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '',
    '',
  ].join('\r\n')
  return [head, Buffer.alloc(sent, ' ')]
}
