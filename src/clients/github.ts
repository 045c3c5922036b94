import { setTimeout as wait } from 'node:timers/promises'
import type { Octokit } from '@octokit/rest'
import { asRecord } from '../lib/as-record.ts'
import { type Note, traced } from '../lib/traced.ts'
import { repaired } from '../schemas/formats.ts'
import { absencesOf } from './absence.ts'
import { appTokens } from './app-tokens.ts'
import type { CodeHost, HostAccess, Refusal, Unreachable } from './codehost.ts'
import { isSignedWith } from './github-signature.ts'
import { commentUrl, githubUrls, isWithin } from './github-urls.ts'
import { githubWrites } from './github-writes.ts'
import {
  dateOf,
  type HostResponse,
  limitsOf,
  outcomeOf,
  plain,
  QUIET,
  redirectOf,
  refusalOf,
  unreachable,
  untilNow,
} from './host-response.ts'
import { counted, drain, MAX_BYTES, readList, readValue, TooLarge } from './response-body.ts'
import { failed, requestTo, responded } from './traced-request.ts'

/** The API version whose format `domain/codehost/item.ts` parses. */
const API_VERSION = '2022-11-28'
const MAX_REDIRECTS = 3
/** Of items in a repository: what the database stores. */
const MAX_COUNT = 2_147_483_647
/** An expired token, and the new one twice. */
const MAX_TOKEN_TRIES = 3

/** Sends one request with the credentials. */
export type Send = (
  access: HostAccess,
  options: RequestOptions,
) => Promise<HostResponse | Refusal | Unreachable>

interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  /** JSON. */
  body?: object
  headers?: Record<string, string>
  /** Whether to follow redirects within the host. Those of a write would change something else. */
  follow: boolean
  signal: AbortSignal | undefined
  /** Reads the body of a 200 or 201; returns undefined if it is invalid. */
  read?: (body: AsyncGenerator<Uint8Array>) => Promise<unknown>
}

interface GithubOptions {
  /** Timeout of a whole request, its body included. */
  timeoutMs?: number
  userAgent?: string
  /** Receives the network error, addresses included: for the log only, not for users. */
  onError?(error: unknown): void
  /** Called repeatedly while a large page is read, so that the caller can collect garbage. */
  onLargeBody?(): void
}

/**
 * Adapter for the REST API of the code host: one request per call, no retries, no waiting. Only the token of a GitHub
 * App is renewed when it is rejected.
 */
export function githubClient({
  timeoutMs = 30_000,
  userAgent = 'inlet',
  onError = () => {},
  onLargeBody = () => {},
}: GithubOptions = {}): CodeHost {
  const { itemAbsenceOf, commentAbsenceOf } = absencesOf(send)
  const { tokenOf, forget } = appTokens({ timeoutMs, userAgent, onError })
  return {
    isSignedWith,
    ...githubWrites(send),

    async findRepository(access, { nameOrId, signal }) {
      const path = typeof nameOrId === 'number' ? `/repositories/${nameOrId}` : `/repos/${nameOrId}`
      const response = await send(access, { url: access.apiUrl + path, follow: true, signal })
      if (response.outcome !== 'responded') return response
      if (response.status !== 200) return refusalOf(response)
      const { id, full_name: name, permissions } = asRecord(response.body)
      if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof name !== 'string') {
        return unreachable('The response for the repository is invalid.')
      }
      const isReadOnly = access.app
        ? await isAppReadOnly({ ...access, app: access.app, signal })
        : isReader(permissions)
      return { outcome: 'found', repository: { id, name: repaired(name), isReadOnly } }
    },

    ...githubUrls,

    async readPage(access, { url, etag: known, signal }) {
      const headers = known ? { 'if-none-match': known } : {}
      const response = await send(access, { url, headers, follow: true, signal, read: readList })
      if (response.outcome !== 'responded') return response
      const limits = limitsOf(response)
      if (response.status === 304) return { outcome: 'unchanged', limits }
      if (response.status !== 200) return refusalOf(response)
      // A truncated body or a proxy's page must not be read as an empty list.
      if (!Array.isArray(response.body)) return unreachable('The response is not a list.')
      const link = linkIn(response.headers.link, 'next')
      const next = link === null ? null : (URL.parse(link, url)?.href ?? 'nowhere')
      if (next === 'nowhere') return unreachable('The URL of the next page is invalid.')
      if (next !== null && !isWithin(access.apiUrl, next)) {
        return unreachable(`The URL of the next page is on another host: ${new URL(next).origin}.`)
      }
      if (next === url) return unreachable('The page names itself as the next one.')
      const { body: items, bytes } = response
      const lastPage = pageNumberOf(linkIn(response.headers.link, 'last'), url)
      const etag = response.headers.etag ?? null
      return { outcome: 'page', items, next, lastPage, etag, date: dateOf(response), bytes, limits }
    },

    async readItem(access, { repositoryId, number, signal }) {
      const url = `${access.apiUrl}/repositories/${repositoryId}/issues/${number}`
      const response = await send(access, { url, follow: false, signal })
      if (response.outcome !== 'responded') return response
      if (response.status !== 200) return itemAbsenceOf(access, { response, url, repositoryId, signal })
      return { outcome: 'present', item: response.body, limits: limitsOf(response) }
    },

    async readComment(access, { repositoryId, externalId, signal }) {
      const url = commentUrl(access, { repositoryId, externalId })
      const response = await send(access, { url, follow: false, signal })
      if (response.outcome !== 'responded') return response
      if (response.status !== 200) return commentAbsenceOf(access, { response, url, repositoryId, signal })
      return { outcome: 'present', comment: response.body, limits: limitsOf(response) }
    },

    async countItems(access, { repository, kind, signal }) {
      const query = new URLSearchParams({ q: `repo:${repository} is:${kind}`, per_page: '1' })
      const url = `${access.apiUrl}/search/issues?${query}`
      const response = await send(access, { url, follow: false, signal })
      if (response.outcome !== 'responded') return response
      if (response.status !== 200) return refusalOf(response)
      const { total_count: count, incomplete_results: isIncomplete } = asRecord(response.body)
      if (!isCount(count) || isIncomplete === true) return unreachable('The response has no total.')
      return { outcome: 'counted', count }
    },
  }

  /** As its token says: the permissions of a repository are those of people, and all false for an App. */
  async function isAppReadOnly(request: Parameters<typeof tokenOf>[0]): Promise<boolean> {
    const kept = await tokenOf(request)
    if (kept.outcome !== 'token' || !kept.isReadOnly) return false
    forget(request)
    const found = await tokenOf(request)
    return found.outcome === 'token' && found.isReadOnly
  }

  async function send(
    { apiUrl, token, app }: HostAccess,
    options: RequestOptions,
  ): Promise<HostResponse | Refusal | Unreachable> {
    if (!app) return followRedirects({ apiUrl, token }, options)
    const { signal } = options
    let rejected: string | undefined
    for (let attempt = 1; ; attempt++) {
      const found = await tokenOf({ apiUrl, app, signal, rejected })
      if (found.outcome !== 'token') return found
      const response = await followRedirects({ apiUrl, token: found.token }, options)
      const status = response.outcome === 'responded' ? response.status : undefined
      if (status === 403) forget({ apiUrl, app })
      if (status !== 401 || attempt === MAX_TOKEN_TRIES) return response
      // A new token may take a second to be known to all servers of the host; an older one has expired or was revoked.
      if (found.isNew) await wait(1_000, undefined, { signal })
      else rejected = found.token
    }
  }

  async function followRedirects({ apiUrl, token }: HostAccess, { follow, url, ...options }: RequestOptions) {
    // Loaded by the first request: many services have no code host.
    const { Octokit } = await import('@octokit/rest')
    const octokit = new Octokit({ baseUrl: apiUrl, userAgent, ...(token && { auth: token }), log: QUIET })
    let target = url
    for (let hops = 0; ; hops++) {
      // The request carries the token, so every URL is checked here, redirects included.
      if (!isWithin(apiUrl, target))
        return unreachable(`${new URL(target).origin} is not the connected host.`)
      const request = { url: target, ...options }
      const work = requestTo(new URL(target), { method: options.method ?? 'GET' })
      const response = await traced(work, (note) => sendRequest(octokit, { ...request, note }))
      if (response.outcome !== 'responded' || !follow) return response
      const next = redirectOf(response, target)
      if (next === undefined) return response
      if (hops === MAX_REDIRECTS) return unreachable('Too many redirects.')
      if (next === '') return unreachable('The redirect URL is invalid.')
      target = next
    }
  }

  async function sendRequest(
    octokit: Octokit,
    {
      method = 'GET',
      url,
      body: data,
      headers = {},
      read = readValue,
      signal,
      note,
    }: Omit<RequestOptions, 'follow'> & { note: Note },
  ): Promise<HostResponse | Unreachable> {
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      const response = await octokit.request({
        method,
        url,
        ...(data && { data }),
        headers: { ...headers, 'x-github-api-version': API_VERSION },
        request: {
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
          redirect: 'manual',
          // Octokit returns a truncated body as text, and is slow on large numbers that are not used here.
          parseSuccessResponseBody: false,
        },
      })
      const { status } = response
      note(responded(status))
      const headersOf = plain(response.headers)
      if (status !== 200 && status !== 201) {
        await drain(response.data)
        return { outcome: 'responded', status, headers: headersOf, body: undefined, bytes: 0 }
      }
      const size = { bytes: 0 }
      const body = untilNow(await read(counted(response.data, { size, onLargeBody })), headersOf.date)
      return { outcome: 'responded', status, headers: headersOf, body, ...size }
    } catch (error) {
      if (error instanceof TooLarge) return unreachable(`The response is larger than ${MAX_BYTES} bytes.`)
      const outcome = outcomeOf(error, { signal, timeout, timeoutMs, onError })
      note(outcome.outcome === 'responded' ? responded(outcome.status) : failed(error))
      return outcome
    }
  }
}

function isReader(permissions: unknown): boolean {
  const { push, triage } = asRecord(permissions)
  return push === false && triage !== true
}

/** The page that a link points at. A cursor has no number. */
function pageNumberOf(link: string | null, base: string): number | null {
  const page = Number((link !== null && URL.parse(link, base)?.searchParams.get('page')) || Number.NaN)
  return isCount(page) ? page : null
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT

/** The target of the first link with this relation in a Link header (RFC 8288). */
function linkIn(header: string | undefined, rel: 'next' | 'last'): string | null {
  const isRel = new RegExp(String.raw`;\s*rel\s*=\s*"?(?:[^"]*\s)?${rel}(?:\s[^"]*)?"?\s*(?:;|$)`, 'i')
  for (const [, target, parameters] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;[^,;]*)*)/g)) {
    if (isRel.test(parameters ?? '')) return target ?? null
  }
  return null
}
