import { Octokit } from '@octokit/rest'
import { jsonElements } from '../lib/json-elements.ts'
import { repaired } from '../schemas/formats.ts'
import type { CodeHost, HostAccess, HostLimits, Refusal, Silence } from './codehost.ts'
import { describeNetworkError, rootCauseOf } from './network-error.ts'

/** The version whose shapes `domain/codehost-entry.ts` reads. */
const API_VERSION = '2022-11-28'
const PER_PAGE = 100
/** A page of a hundred entries with the longest bodies is 25 MB of text; escaped it may be twice that. */
const MAX_BYTES = 64 * 1024 * 1024
/** As text and parsed, a page takes three times its bytes. */
const MAX_CHUNK_BYTES = 2 * 1024 * 1024
const MAX_REDIRECTS = 3

interface GithubOptions {
  /** For a whole request, its body included. */
  timeoutMs?: number
  userAgent?: string
  /** Hears what the network said, addresses included: for the log, not for who asked. */
  onError?(error: unknown): void
  /** Called again and again while a large page is read: what it leaves behind may be collected. */
  onBurden?(): void
}

/** The code host over its REST API: one request a call, nothing retried, nothing slept over. */
export function githubClient({
  timeoutMs = 30_000,
  userAgent = 'inlet',
  onError = () => {},
  onBurden = () => {},
}: GithubOptions = {}): CodeHost {
  return {
    async findRepository(access, which, signal) {
      const path = typeof which === 'number' ? `/repositories/${which}` : `/repos/${which}`
      const answer = await ask(access, access.apiUrl + path, { follow: true, signal })
      if (answer.outcome !== 'answered') return answer
      if (answer.status !== 200) return refusalOf(answer)
      const { id, full_name: name } = asRecord(answer.body)
      if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof name !== 'string') {
        return silence('The answer about the repository is not what the API describes.')
      }
      return { outcome: 'found', repository: { id, name: repaired(name) } }
    },

    listingUrl: (apiUrl, id) => issuesUrl(apiUrl, id, { sort: 'created', direction: 'asc' }),
    updatesUrl: (apiUrl, id, since) => issuesUrl(apiUrl, id, { sort: 'updated', direction: 'asc', since }),
    latestUrl: (apiUrl, id) => issuesUrl(apiUrl, id, { sort: 'updated', direction: 'desc', per_page: '1' }),

    async readPage(access, url, { etag, signal } = {}) {
      const headers = etag ? { 'if-none-match': etag } : {}
      const answer = await ask(access, url, { headers, follow: true, signal, read: readList })
      if (answer.outcome !== 'answered') return answer
      const limits = limitsOf(answer)
      if (answer.status === 304) return { outcome: 'unchanged', limits }
      if (answer.status !== 200) return refusalOf(answer)
      // A body that was cut, or a proxy's page, must never pass for an empty list.
      if (!Array.isArray(answer.body)) return silence('The answer is not a list of issues.')
      const link = nextOf(answer.headers.link)
      const next = link === null ? null : (URL.parse(link, url)?.href ?? 'nowhere')
      if (next === 'nowhere') return silence('The address of the next page cannot be read.')
      if (next !== null && !isWithin(access.apiUrl, next)) {
        return silence(`The next page is said to be at ${new URL(next).origin}, which is another host.`)
      }
      const { body: entries, bytes } = answer
      return { outcome: 'page', items: entries, next, etag: answer.headers.etag ?? null, bytes, limits }
    },

    async readItem(access, repositoryId, number, signal) {
      const url = `${access.apiUrl}/repositories/${repositoryId}/issues/${number}`
      const answer = await ask(access, url, { follow: false, signal })
      if (answer.outcome !== 'answered') return answer
      const limits = limitsOf(answer)
      switch (answer.status) {
        case 200:
          return { outcome: 'present', item: answer.body, limits }
        case 301:
          return { outcome: 'transferred', limits }
        case 404:
        case 410:
          return { outcome: 'deleted', limits }
        default:
          return refusalOf(answer)
      }
    },
  }

  interface Ask {
    headers?: Record<string, string>
    /** Whether a redirect that stays with the host is followed. */
    follow: boolean
    signal: AbortSignal | undefined
    /** What is made of the body of a 200; undefined where it is not what it should be. */
    read?: (body: AsyncGenerator<Uint8Array>) => Promise<unknown>
  }

  async function ask(
    access: HostAccess,
    url: string,
    { headers = {}, follow, signal, read = readValue }: Ask,
  ) {
    const { apiUrl, token } = access
    const octokit = new Octokit({ baseUrl: apiUrl, userAgent, ...(token && { auth: token }), log: QUIET })
    let target = url
    for (let hops = 0; ; hops++) {
      // The token goes along, so this is the last gate before the wire.
      if (!isWithin(apiUrl, target)) return silence(`${new URL(target).origin} is not the connected host.`)
      const answer = await once(octokit, target, headers, read, signal)
      if (answer.outcome !== 'answered' || !follow) return answer
      const { location } = answer.headers
      if (![301, 302, 307, 308].includes(answer.status) || !location) return answer
      if (hops === MAX_REDIRECTS) return silence('The host redirects in a circle.')
      const redirected = URL.parse(location, target)
      if (!redirected) return silence('The host redirects to an address that cannot be read.')
      target = redirected.href
    }
  }

  async function once(
    octokit: Octokit,
    url: string,
    headers: Record<string, string>,
    read: NonNullable<Ask['read']>,
    signal: AbortSignal | undefined,
  ): Promise<HostResponse | Silence> {
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await octokit.request({
        method: 'GET',
        url,
        headers: { ...headers, 'x-github-api-version': API_VERSION },
        request: {
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
          redirect: 'manual',
          // Octokit takes a cut body for text, and is slow on large numbers we have no use for.
          parseSuccessResponseBody: false,
        },
      })
      const { status } = response
      const headersOf = plain(response.headers)
      if (status !== 200) {
        await drained(response.data)
        return { outcome: 'answered', status, headers: headersOf, body: undefined, bytes: 0 }
      }
      const size = { bytes: 0 }
      const body = await read(counted(response.data, size, onBurden))
      return { outcome: 'answered', status, headers: headersOf, body, ...size }
    } catch (error) {
      signal?.throwIfAborted()
      const { response } = error as { response?: { status: number; headers: object; data: unknown } }
      if (response) {
        const { status, data } = response
        return { outcome: 'answered', status, headers: plain(response.headers), body: data, bytes: 0 }
      }
      if (timeout.aborted) return silence(`No whole answer within ${timeoutMs / 1000} s.`)
      if (error instanceof TooLarge) return silence(`The answer is larger than ${MAX_BYTES} bytes.`)
      onError(rootCauseOf(error))
      return silence(describeNetworkError(error))
    }
  }
}

interface HostResponse {
  outcome: 'answered'
  status: number
  headers: Record<string, string | undefined>
  body: unknown
  bytes: number
}

const QUIET = { debug() {}, info() {}, warn() {}, error() {} }

function issuesUrl(apiUrl: string, repositoryId: number, query: Record<string, string>): string {
  const all = new URLSearchParams({ state: 'all', per_page: String(PER_PAGE), ...query })
  return `${apiUrl}/repositories/${repositoryId}/issues?${all}`
}

/** Whether an address belongs to the API: its origin, and under its path where it has one. */
function isWithin(apiUrl: string, url: string): boolean {
  const base = new URL(apiUrl)
  const target = new URL(url)
  const path = base.pathname.replace(/\/?$/, '/')
  return target.origin === base.origin && target.pathname.startsWith(path) && target.username === ''
}

/** The `rel="next"` of a Link header (RFC 8288). */
function nextOf(header: string | undefined): string | null {
  for (const [, target, parameters] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;[^,;]*)*)/g)) {
    if (/;\s*rel\s*=\s*"?(?:[^"]*\s)?next(?:\s[^"]*)?"?\s*(?:;|$)/i.test(parameters ?? ''))
      return target ?? null
  }
  return null
}

class TooLarge extends Error {}

/** Octokit types the body it did not parse as anything. */
async function* counted(
  data: unknown,
  size: { bytes: number },
  onBurden: () => void,
): AsyncGenerator<Uint8Array> {
  let burdenAt = MAX_CHUNK_BYTES
  for await (const chunk of data as ReadableStream<Uint8Array>) {
    size.bytes += chunk.byteLength
    if (size.bytes > MAX_BYTES) throw new TooLarge()
    yield chunk
    if (size.bytes < burdenAt) continue
    burdenAt = size.bytes + MAX_CHUNK_BYTES
    onBurden()
  }
}

/** A large page is read element by element; any other at once, which takes a sixth of the time. */
async function readList(body: AsyncGenerator<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for (let bytes = 0; bytes <= MAX_CHUNK_BYTES; ) {
    const { done, value } = await body.next()
    if (done) return unlessBroken(() => JSON.parse(Buffer.concat(chunks).toString()))
    bytes += value.byteLength
    chunks.push(value)
  }
  return unlessBroken(async () => {
    const elements = []
    for await (const element of jsonElements(following(chunks, body))) elements.push(element)
    return elements
  })
}

/** What has come, and what comes. */
async function* following(chunks: Uint8Array[], rest: AsyncGenerator<Uint8Array>) {
  try {
    while (chunks[0]) yield chunks.shift() as Uint8Array
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

async function readValue(body: AsyncGenerator<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return unlessBroken(() => JSON.parse(Buffer.concat(chunks).toString()))
}

async function unlessBroken<T>(parse: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await parse()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A connection whose answer is left unread is not used again. */
async function drained(data: unknown): Promise<void> {
  if (data instanceof ReadableStream) await data.cancel().catch(() => {})
}

function refusalOf({ status, headers, body }: HostResponse): Refusal | Silence {
  if (status >= 500) return silence(`It answers ${status}.`)
  const { message } = asRecord(body)
  return {
    outcome: 'refused',
    status,
    message: typeof message === 'string' ? repaired(message.slice(0, 300)) : '',
    retryAfter: headers['retry-after'] ?? null,
    singleSignOn: /url=(\S+)/.exec(headers['x-github-sso'] ?? '')?.[1] ?? null,
    limits: limitsOf({ headers }),
  }
}

function limitsOf({ headers }: Pick<HostResponse, 'headers'>): HostLimits {
  const remaining = headers['x-ratelimit-remaining']
  const reset = headers['x-ratelimit-reset']
  return {
    remaining: remaining && /^\d+$/.test(remaining) ? Number(remaining) : null,
    resetAt: reset && /^\d{1,11}$/.test(reset) ? new Date(Number(reset) * 1000) : null,
  }
}

const silence = (why: string): Silence => ({ outcome: 'unreachable', why })

const asRecord = (body: unknown) =>
  (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>

const plain = (headers: object) => headers as Record<string, string | undefined>
