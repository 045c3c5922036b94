import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What passes on a connection, in one direction: late, or not for now, but in order. */
interface Flow {
  isPaused: boolean
  pump(): void
}

/** A network between a service and its database that a test can make worse. */
export async function startDatabaseProxy(target: string) {
  const { hostname, port } = new URL(target)
  const flows = new Set<Flow>()
  const sockets = new Set<Socket>()
  const stranded = new Set<Socket>()
  let delayMs = 0
  let isPaused = false

  const server = createServer({ noDelay: true }, (client) => {
    const database = connect({ port: Number(port), host: hostname, noDelay: true })
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from)
      const flow = flowBetween(from, to)
      flow.isPaused = isPaused
      flows.add(flow)
      from.on('error', () => undefined)
      from.once('close', () => {
        sockets.delete(from)
        flows.delete(flow)
        // Neither end of a lost connection learns what the other does.
        if (!stranded.has(from)) to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)

  return {
    connectionString: url.href,

    /** Ends all connections there are. */
    cut(): void {
      for (const socket of sockets) socket.destroy()
    },

    /** Delays everything that the database sends. */
    delay(ms: number): void {
      delayMs = ms
    },

    /** A black hole: connections are open, and nothing arrives, not on new ones either. */
    pause(): void {
      setPaused(true)
    },

    /** The end of the black hole: all that was sent arrives. */
    resume(): void {
      setPaused(false)
    },

    /** Loses all open connections without an end that either side could see; new ones work. */
    strand(): void {
      for (const socket of sockets) stranded.add(socket)
      for (const flow of flows) flow.isPaused = true
      flows.clear()
    },

    close(): void {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }

  function setPaused(value: boolean): void {
    isPaused = value
    for (const flow of flows) {
      flow.isPaused = value
      flow.pump()
    }
  }

  function flowBetween(from: Socket, to: Socket): Flow {
    const waiting: { chunk: Buffer; due: number }[] = []
    const flow: Flow = {
      isPaused: false,
      pump() {
        while (!flow.isPaused && waiting[0] && waiting[0].due <= performance.now()) {
          to.write(waiting.shift()?.chunk ?? '')
        }
      },
    }
    from.on('data', (chunk: Buffer) => {
      const lateMs = from.remotePort === Number(port) ? delayMs : 0
      waiting.push({ chunk, due: performance.now() + lateMs })
      if (lateMs > 0) setTimeout(flow.pump, lateMs + 1)
      else flow.pump()
    })
    return flow
  }
}
