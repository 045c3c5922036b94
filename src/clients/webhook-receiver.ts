import { lookup as lookUp } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPublicAddress } from '../lib/public-address.ts'
import { semaphore } from '../lib/semaphore.ts'
import { type Note, traced } from '../lib/traced.ts'
import { truncateUtf8 } from '../lib/truncate-utf8.ts'
import { describeNetworkError } from './network-error.ts'
import { failed, requestTo, responded } from './traced-request.ts'

/** An `import` of `node:http` reads all that it exports, `WebSocket` included: 14 MB and 50 ms of each start. */
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

export type WebhookReceiver = ReturnType<typeof webhookReceiver>

/** What a receiver responded, or why it did not. */
export interface Receipt {
  /** Null if there was no response. */
  status: number | null
  /** The beginning of the body, as text. */
  body: string
  /** Why there was no response, for users. Null if there was one. */
  error: string | null
}

/** Why no request may be sent to a URL. */
export type UrlRefusal = 'not_https' | 'not_found' | 'not_public'

interface Request {
  url: string
  headers: Record<string, string>
  body: string
  /** Aborted: the request ends without a response. */
  signal: AbortSignal
}

type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>

interface ReceiverOptions {
  /** Hosts, with or without a port, that may have any address and need no https. */
  allowHosts: readonly string[]
  /** A certificate authority, for tests. */
  ca?: string
  /** Resolves host names. */
  resolve?: Resolve
  timeoutMs?: number
}

const MAX_RESPONSE_BYTES = 16 * 1024
/** The response has been decided by then: only a receiver that responds at once needs no new connection. */
const BODY_MS = 1_000
const RESOLVE_MS = 5_000
/** Each occupies one of four threads, which also read files, for as long as its name server does not respond. */
const MAX_LOOKUPS = 2

/** Sends requests to URLs that users have chosen: only to public addresses, unless the operator allows the host. */
export function webhookReceiver(options: ReceiverOptions) {
  const { allowHosts, ca, timeoutMs = 10_000 } = options
  const resolve = sharedLookups(options.resolve ?? resolveAll)
  const kept = { keepAlive: true, maxFreeSockets: 5, timeout: 30_000, ...(ca && { ca }) }
  const lookup = lookupWith(resolve, () => true)
  const agents = {
    open: { http: new http.Agent({ ...kept, lookup }), https: new https.Agent({ ...kept, lookup }) },
    guarded: new https.Agent({ ...kept, lookup: lookupWith(resolve, isPublicAddress) }),
  }

  return {
    /** Checks a URL before it is stored. Undefined if requests may be sent to it. */
    async refusalOf(text: string): Promise<UrlRefusal | undefined> {
      const url = new URL(text)
      if (isAllowed(url)) return undefined
      if (url.protocol !== 'https:') return 'not_https'
      const host = hostOf(url)
      if (isIP(host)) return isPublicAddress(host) ? undefined : 'not_public'
      const addresses = await Promise.race([resolve(host), sleep(RESOLVE_MS, [], { ref: false })]).catch(
        () => [],
      )
      if (addresses.length === 0) return 'not_found'
      return addresses.every(({ address }) => isPublicAddress(address)) ? undefined : 'not_public'
    },

    /** Posts a body. Redirects are not followed. Rejects only if the signal is aborted. */
    async post(given: Request): Promise<Receipt> {
      const url = URL.parse(given.url)
      if (!url) return failure('The URL is invalid.')
      const refusal = isAllowed(url) ? undefined : refusalBeforeConnecting(url)
      if (refusal) return failure(refusal)
      given.signal.throwIfAborted()
      const until = performance.now() + timeoutMs
      // Whoever knows the path can often send to such a URL.
      const work = requestTo(url, { method: 'POST', path: '/REDACTED' })
      for (let isRetried = false; ; isRetried = true) {
        const sent = await traced(work, (note) => send(url, { ...given, until, note }))
        if ('status' in sent) return sent
        given.signal.throwIfAborted()
        if (sent.error instanceof DeadlineReached) return failure(`No response within ${timeoutMs / 1000} s.`)
        // The receiver closed an idle connection at the same time. Any other may have received the request.
        if (sent.isReused && isClosed(sent.error) && !isRetried) continue
        return failure(sent.error instanceof NotPublic ? NOT_PUBLIC : describeNetworkError(sent.error))
      }
    },

    /** Closes idle connections. */
    close(): void {
      for (const agent of [agents.open.http, agents.open.https, agents.guarded]) agent.destroy()
    },
  }

  function isAllowed({ host, hostname }: URL): boolean {
    return allowHosts.includes(host) || allowHosts.includes(hostname)
  }

  /** An address is not looked up, so the connector would not check it. */
  function refusalBeforeConnecting(url: URL): string | undefined {
    if (url.protocol !== 'https:') return 'The URL is not https.'
    const host = hostOf(url)
    return isIP(host) && !isPublicAddress(host) ? NOT_PUBLIC : undefined
  }

  async function send(
    url: URL,
    { headers, body, signal, until, note }: Request & { until: number; note: Note },
  ): Promise<Receipt | { error: unknown; isReused: boolean }> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const isHttps = url.protocol === 'https:'
    const { open, guarded } = agents
    const agent = isAllowed(url) ? open[isHttps ? 'https' : 'http'] : guarded
    const bytes = Buffer.from(body)
    const request = (isHttps ? https : http).request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': bytes.length },
    })
    const end = (reason: unknown) => {
      reject(reason)
      request.destroy()
    }
    let hasResponded = false
    request
      .on('response', (response) => {
        hasResponded = true
        resolve(response)
      })
      .on('error', reject)
      // After a switch of protocols, there is neither a response nor an error.
      .on('close', () => hasResponded || reject(closed()))
      .end(bytes)
    const onAbort = () => end(signal.reason)
    signal.addEventListener('abort', onAbort)
    const timer = setTimeout(() => end(new DeadlineReached()), Math.ceil(until - performance.now()))
    try {
      const response = await promise
      note(responded(response.statusCode ?? 0))
      return { status: response.statusCode ?? 0, body: await beginningOf(response), error: null }
    } catch (error) {
      note(failed(error))
      return { error, isReused: request.reusedSocket }
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }
}

const NOT_PUBLIC = 'The host has an address that is not public.'

const failure = (error: string): Receipt => ({ status: null, body: '', error })

class NotPublic extends Error {}

class DeadlineReached extends Error {}

/** Without the brackets of IPv6. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')

const resolveAll = (hostname: string) => lookUp(hostname, { all: true })

/** Looks up few names at a time, and each once for all that wait for it. */
function sharedLookups(resolve: Resolve): Resolve {
  const limit = semaphore(MAX_LOOKUPS)
  const lookups = new Map<string, ReturnType<Resolve>>()
  return (hostname) => {
    const running = lookups.get(hostname)
    if (running) return running
    const lookup = limit(() => resolve(hostname)).finally(() => lookups.delete(hostname))
    lookups.set(hostname, lookup)
    return lookup
  }
}

/** Not one that is sent again, as after `ECONNRESET`: the receiver got the request. */
const closed = () => Object.assign(new Error('closed without a response'), { code: 'ECONNABORTED' })

const isClosed = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** Resolves names for the connector: it connects only to addresses that were checked here. */
function lookupWith(resolve: Resolve, mayConnect: (address: string) => boolean): LookupFunction {
  // biome-ignore lint/complexity/useMaxParams: the signature of the connector.
  return (hostname, { all }, callback) => {
    const onResolved = (addresses: { address: string; family: number }[]) => {
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => mayConnect(address))) callback(new NotPublic(), '')
      else if (all) callback(null, addresses)
      else callback(null, first.address, first.family)
    }
    resolve(hostname).then(onResolved, (error) => callback(error, ''))
  }
}

/** The rest is not read: the connection is closed instead. */
function beginningOf(response: IncomingMessage): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => response.destroy(), BODY_MS)
  response
    .on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size >= MAX_RESPONSE_BYTES) response.destroy()
    })
    // The status has arrived, which decides.
    .on('error', () => {})
    .on('close', () => {
      clearTimeout(timer)
      resolve(truncateUtf8(Buffer.concat(chunks).toString(), MAX_RESPONSE_BYTES))
    })
  return promise
}
