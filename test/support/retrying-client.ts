import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_KEY } from './inlet-process.ts'

/** The results of several clients together. */
export interface Tally {
  /** Sent requests, retries included. */
  requests: number
  /** The number of retries by reason: a status, or the code of a connection error. */
  retries: Map<string, number>
  /**
   * For each request, the milliseconds from its first attempt to a response that is neither a connection error nor one
   * of RETRYABLE.
   */
  waits: number[]
  /** Responses that no fault explains. */
  unexpected: string[]
}

export interface Outgoing {
  method: string
  path: string
  headers?: Record<string, string>
  body?: object
}

export interface ClientResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a response.
  body: any
  /** 1 when the first attempt got a response. */
  attempts: number
}

interface Reply {
  /** The only member when the connection failed. */
  failure?: string
  status?: number
  text?: string
  retryAfter?: string | undefined
}

export const newTally = (): Tally => ({ requests: 0, retries: new Map(), waits: [], unexpected: [] })

/** Instead of a status when no response came in time; may be followed by `on a kept connection`. */
export const NO_RESPONSE = 'no response'

/** The service gives up on a silent database after 12 s; a longer wait never ends. */
const RESPONSE_MS = 20_000
const GIVE_UP_MS = 60_000
const MAX_PAUSE_MS = 500

/** Statuses after which a request may be repeated. A 500 is always an error of the service. */
const RETRYABLE = new Set([408, 429, 502, 503, 504])

/**
 * Sends one request at a time, to each URL in turn over a kept connection, and retries after connection errors, 408,
 * 429, 502, 503, 504, and while the first attempt is in progress.
 */
export function retryingClient(targets: () => string[], tally: Tally, key = ADMIN_KEY) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let turn = Math.floor(Math.random() * 100)

  return {
    async send(outgoing: Outgoing): Promise<ClientResponse> {
      const since = performance.now()
      for (let attempts = 1; ; attempts++) {
        tally.requests++
        const { failure, status = 0, text = '', retryAfter } = await sendOnce(nextTarget(), outgoing)
        if ((status === 429 || status === 503) && !retryAfter)
          tally.unexpected.push(`${status} without Retry-After: ${text}`)
        const isInProgress = status === 409 && text.includes('request_in_progress')
        const reason = failure ?? (RETRYABLE.has(status) || isInProgress ? String(status) : undefined)
        if (reason === undefined) {
          tally.waits.push(performance.now() - since)
          return { status, body: text ? JSON.parse(text) : undefined, attempts }
        }
        tally.retries.set(reason, (tally.retries.get(reason) ?? 0) + 1)
        if (performance.now() - since > GIVE_UP_MS)
          throw new Error(`${outgoing.method} ${outgoing.path} was tried for a minute: ${reason} ${text}`)
        // Another instance may respond at once.
        const isRefused = reason === 'ECONNREFUSED' && attempts < targets().length
        if (!isRefused) await sleep(Math.min(20 * 2 ** attempts, MAX_PAUSE_MS) * (0.5 + Math.random() / 2))
      }
    },
    close: () => agent.destroy(),
  }

  function nextTarget(): string {
    const urls = targets()
    return urls[turn++ % urls.length] ?? ''
  }

  function sendOnce(url: string, { method, path, headers, body }: Outgoing) {
    const json = body && JSON.stringify(body)
    return new Promise<Reply>((resolve) => {
      const sent = request(url + path, {
        agent,
        method,
        signal: AbortSignal.timeout(RESPONSE_MS),
        headers: {
          'x-api-key': key,
          ...(json && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }),
          ...headers,
        },
      })
      const fail = ({ name, code, message }: NodeJS.ErrnoException) => {
        const reason = name === 'AbortError' || name === 'TimeoutError' ? NO_RESPONSE : (code ?? message)
        resolve({ failure: sent.reusedSocket ? `${reason} on a kept connection` : reason })
      }
      sent.once('error', fail)
      sent.once('response', async (response) => {
        try {
          const parts: Buffer[] = []
          for await (const part of response) parts.push(part)
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(parts).toString(),
            retryAfter: response.headers['retry-after'],
          })
        } catch (error) {
          fail(error as Error)
        }
      })
      sent.end(json)
    })
  }
}
