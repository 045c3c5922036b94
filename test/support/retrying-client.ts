import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_KEY } from './inlet-process.ts'

/** How clients fared together. */
export interface Tally {
  /** Sent, with those that were sent again. */
  requests: number
  /** Why requests were sent again, and how often: a status, or the code of a connection error. */
  retries: Map<string, number>
  /**
   * Of each request: from its first sending to an answer that is neither an error of the connection nor one of RETRYABLE,
   * in milliseconds.
   */
  waits: number[]
  /** Answers that nothing excuses. */
  unexpected: string[]
}

export interface Outgoing {
  method: string
  path: string
  headers?: Record<string, string>
  body?: object
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer.
  body: any
  /** 1 where the first was answered. */
  attempts: number
}

interface Reply {
  /** In place of all others, where the connection failed. */
  failure?: string
  status?: number
  text?: string
  retryAfter?: string | undefined
}

export const newTally = (): Tally => ({ requests: 0, retries: new Map(), waits: [], unexpected: [] })

/** In place of a status, where no answer came in time; also with `on a kept connection` behind it. */
export const NO_ANSWER = 'no answer'

/** A silent database is given up after 12 s; whoever waits longer waits for ever. */
const ANSWER_MS = 20_000
const GIVE_UP_MS = 60_000
const MAX_PAUSE_MS = 500

/** What says that the same may be sent again. A 500 is an error of the service, whatever befell it. */
const RETRYABLE = new Set([408, 429, 502, 503, 504])

/**
 * One request at a time, to each address in turn over a connection that is kept, and again until it is answered:
 * after connection errors, 408, 429, 502, 503, 504, and where the first sending is still at work.
 */
export function retryingClient(targets: () => string[], tally: Tally, key = ADMIN_KEY) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let turn = Math.floor(Math.random() * 100)

  return {
    async send(outgoing: Outgoing): Promise<Answer> {
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
        // Another instance may be there at once.
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
        signal: AbortSignal.timeout(ANSWER_MS),
        headers: {
          'x-api-key': key,
          ...(json && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }),
          ...headers,
        },
      })
      const fail = ({ name, code, message }: NodeJS.ErrnoException) => {
        const reason = name === 'AbortError' || name === 'TimeoutError' ? NO_ANSWER : (code ?? message)
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
