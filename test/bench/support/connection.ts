import { once } from 'node:events'
import { connect } from 'node:net'

export interface BenchRequest {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  headers?: Record<string, string>
  body?: string
}

export type BenchConnection = Awaited<ReturnType<typeof connectTo>>

const READ_SIZE = 65_536
const END_OF_HEAD = '\r\n\r\n'
/** The end of a body in chunks. JSON contains no line break of this kind, and no chunk before the last is empty. */
const END_OF_CHUNKS = '0\r\n\r\n'

/**
 * A connection that carries one request at a time, and reads no more of a response than its status and where it ends.
 * A whole HTTP client (undici) takes three times the processor time: 15 to 18 % of what is used to create tasks.
 */
export async function connectTo(url: string) {
  const { host, hostname, port } = new URL(url)
  let head = Buffer.alloc(0)
  /** Of the response's body; undefined until its head is complete. */
  let missing: number | undefined
  /** The last bytes of a body in chunks; undefined otherwise. */
  let tail: string | undefined
  let awaited: { status: number; resolve(): void; reject(error: Error): void } | undefined
  let failure: Error | undefined

  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    // One buffer for all reads: nothing to allocate, and no stream in between.
    onread: {
      buffer: Buffer.allocUnsafe(READ_SIZE),
      callback: (length, buffer) => {
        read(Buffer.from(buffer.buffer, buffer.byteOffset, length))
        return true
      },
    },
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('The connection was closed.')))
  await once(socket, 'connect')

  return {
    /**
     * Resolves when the whole response is read.
     * @throws Error if it has another status, or the connection fails.
     */
    async send(request: BenchRequest, status: number): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      if (failure) throw failure
      awaited = { status, resolve, reject }
      socket.write(messageOf(request, host))
      return promise
    },
    close: () => socket.destroy(),
  }

  function read(chunk: Buffer): void {
    if (tail !== undefined) readChunks(chunk)
    else if (missing === undefined) readHead(head.length > 0 ? Buffer.concat([head, chunk]) : chunk)
    else readBody(missing, chunk.length)
  }

  function readHead(received: Buffer): void {
    const end = received.indexOf(END_OF_HEAD)
    if (end < 0) {
      // The next read overwrites the chunk.
      head = Buffer.from(received)
      return
    }
    head = Buffer.alloc(0)
    const text = received.toString('latin1', 0, end)
    const status = Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
    const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1]
    const isChunked = /\r\ntransfer-encoding: chunked/i.test(text)
    const begin = end + END_OF_HEAD.length
    if ((length === undefined && !isChunked) || status !== awaited?.status)
      fail(new Error(`Unexpected response: ${received}`))
    else if (isChunked) readChunks(received.subarray(begin))
    else readBody(Number(length), received.length - begin)
  }

  function readChunks(chunk: Buffer): void {
    tail = (tail ?? '') + chunk.toString('latin1', Math.max(0, chunk.length - END_OF_CHUNKS.length))
    tail = tail.slice(-END_OF_CHUNKS.length)
    if (tail !== END_OF_CHUNKS) return
    tail = undefined
    awaited?.resolve()
    awaited = undefined
  }

  function readBody(expected: number, length: number): void {
    missing = expected > length ? expected - length : undefined
    if (length > expected) fail(new Error('The response is longer than its Content-Length.'))
    if (missing !== undefined) return
    awaited?.resolve()
    awaited = undefined
  }

  function fail(error: Error): void {
    failure ??= error
    awaited?.reject(error)
    awaited = undefined
  }
}

function messageOf({ method, path, headers = {}, body }: BenchRequest, host: string): string {
  let message = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  for (const name of Object.keys(headers)) message += `${name}: ${headers[name]}\r\n`
  if (body === undefined) return `${message}\r\n`
  return `${message}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
