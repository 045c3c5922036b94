import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_KEY } from './inlet-process.ts'

interface Sent {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** How a client fared until it could not connect any more. */
export interface Tally {
  responses: number
  /** Everything but a 201, or a connection that was refused when a new one was due. */
  failures: string[]
}

/** One request at a time over one connection; a new connection only after a response with `Connection: close`. */
export function keepAliveClient(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  function post(path: string, body: object, { pauseMs = 0 } = {}): Promise<Sent> {
    const json = JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const sent = request(url + path, {
        agent,
        method: 'POST',
        headers: {
          'x-api-key': ADMIN_KEY,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(json),
        },
      })
      sent.once('error', reject)
      sent.once('response', async (response) => {
        try {
          const parts: Buffer[] = []
          for await (const part of response) parts.push(part)
          const text = Buffer.concat(parts).toString()
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        } catch (error) {
          reject(error)
        }
      })
      // In two halves, for a request that is under way for a while.
      sent.write(json.slice(0, 8))
      if (pauseMs > 0) setTimeout(() => sent.end(json.slice(8)), pauseMs)
      else sent.end(json.slice(8))
    })
  }

  return {
    post,
    /** Creates tasks until nobody listens any more. */
    async createUntilRefused({ thinkMs = 0 } = {}): Promise<Tally> {
      const tally: Tally = { responses: 0, failures: [] }
      let isNewConnectionDue = true
      for (;;) {
        try {
          const { status, headers, text } = await post('/api/tasks', { title: 'Under load' })
          if (status === 201) tally.responses++
          else tally.failures.push(`${status} ${text}`)
          isNewConnectionDue = headers.connection === 'close'
        } catch (error) {
          const { code, message } = error as NodeJS.ErrnoException
          if (code !== 'ECONNREFUSED' || !isNewConnectionDue)
            tally.failures.push(`${message} (${isNewConnectionDue ? 'new' : 'kept'} connection)`)
          return tally
        }
        if (thinkMs > 0) await sleep(thinkMs * Math.random())
      }
    },
    close: () => agent.destroy(),
  }
}
