import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

/** For the environment of a process that sends to dead receivers. */
export const REBINDING = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./rebinding-names.ts', import.meta.url))}`,
}

const ENDLESS_BYTES = 2 * 1024 ** 3
const TRICKLE_MS = 500
/** Nothing listens there. */
const CLOSED_PORT = 9

/** What each dead receiver does, and what the list of deliveries says about it. */
export async function startDeadReceivers() {
  const open: Server[] = []
  const sockets = new Set<Socket>()
  const silent = await listening(createServer(() => {}))
  const trickling = await listening(createServer(trickle))
  const redirecting = await http((_, response) =>
    response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  )
  const endless = await http((_, response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const fill = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.writeHead(500, { 'content-length': ENDLESS_BYTES }).on('drain', fill)
    fill()
  })
  const failing = await http((_, response) => response.writeHead(500).end())
  let connections = 0
  const rebound = await listening(
    createServer((socket) => {
      connections++
      socket.destroy()
    }),
  )
  const receivers: { url(unique: string): string; error: string }[] = [
    { url: (path) => `http://127.0.0.1:${CLOSED_PORT}/${path}`, error: 'The host refused the connection.' },
    { url: (path) => `http://127.0.0.1:${silent}/${path}`, error: 'No response within 10 s.' },
    { url: (path) => `http://127.0.0.1:${trickling}/${path}`, error: 'No response within 10 s.' },
    {
      url: (path) => `http://127.0.0.1:${redirecting}/${path}`,
      error: 'The receiver responded with 307. Redirects are not followed.',
    },
    { url: (path) => `http://127.0.0.1:${endless}/${path}`, error: 'The receiver responded with 500.' },
    { url: (path) => `http://127.0.0.1:${failing}/${path}`, error: 'The receiver responded with 500.' },
    {
      url: (name) => `https://${name}.rebinding.test:${rebound}/`,
      error: 'The host has an address that is not public.',
    },
    // It accepts connections, and never completes the TLS handshake.
    { url: (path) => `https://127.0.0.1:${silent}/${path}`, error: 'No response within 10 s.' },
  ]

  return {
    receivers,
    /** Connections to an address that a name got after it was checked. */
    reboundConnections: () => connections,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      await Promise.all(open.map((server) => once(server.close(), 'close')))
    },
  }

  function http(respond: RequestListener): Promise<number> {
    return listening(createHttpServer(respond))
  }

  async function listening(server: Server): Promise<number> {
    open.push(server)
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
}

/** Its headers never end. */
function trickle(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n')
  const timer = setInterval(() => socket.write('X-Slow: 1\r\n'), TRICKLE_MS)
  socket.on('close', () => clearInterval(timer))
}
