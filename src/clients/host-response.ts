import { asRecord } from '../lib/as-record.ts'
import { repaired } from '../schemas/formats.ts'
import type { HostLimits, Refusal, Unreachable } from './codehost.ts'
import { describeNetworkError, rootCauseOf } from './network-error.ts'

/** A response of the host, whatever its status. */
export interface HostResponse {
  outcome: 'responded'
  status: number
  headers: Record<string, string | undefined>
  body: unknown
  bytes: number
}

interface FailedRequest {
  signal: AbortSignal | undefined
  timeout: AbortSignal
  timeoutMs: number
  onError(error: unknown): void
}

/**
 * What Octokit's error means: a response with an error status, or none at all.
 * @throws the reason of `signal`, if that aborted the request
 */
export function outcomeOf(
  error: unknown,
  { signal, timeout, timeoutMs, onError }: FailedRequest,
): HostResponse | Unreachable {
  signal?.throwIfAborted()
  const { response } = error as { response?: { status: number; headers: object; data: unknown } }
  if (response) {
    const { status, data } = response
    return { outcome: 'responded', status, headers: plain(response.headers), body: data, bytes: 0 }
  }
  if (timeout.aborted) return unreachable(`No complete response within ${timeoutMs / 1000} s.`)
  onError(rootCauseOf(error))
  return unreachable(describeNetworkError(error))
}

export function refusalOf({ status, headers, body }: HostResponse): Refusal | Unreachable {
  if (status >= 500) return unreachable(`The status is ${status}.`)
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

/** Where a response redirects to; empty if that is no URL, undefined if it does not. */
export function redirectOf({ status, headers: { location } }: HostResponse, url: string): string | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || !location) return undefined
  return URL.parse(location, url)?.href ?? ''
}

/** A redirect that says nothing about what was asked for. */
export const redirected = (target: string): Unreachable =>
  unreachable(`It redirects to ${URL.parse(target)?.origin ?? 'an invalid URL'}.`)

export function limitsOf({ headers }: Pick<HostResponse, 'headers'>): HostLimits {
  const remaining = headers['x-ratelimit-remaining']
  const reset = headers['x-ratelimit-reset']
  return {
    remaining: remaining && /^\d+$/.test(remaining) ? Number(remaining) : null,
    resetAt: reset && /^\d{1,11}$/.test(reset) ? new Date(Number(reset) * 1000) : null,
  }
}

/** The host's time, to the second; null if it does not send it. */
export function dateOf({ headers: { date } }: Pick<HostResponse, 'headers'>): string | null {
  const time = Date.parse(date ?? '')
  return Number.isNaN(time) ? null : `${new Date(time).toISOString().slice(0, 19)}Z`
}

/**
 * Replaces update times after the host's own time by it: until then, what is changed next would count as older.
 * @returns the same body: an object, or a list of them
 */
export function untilNow(body: unknown, date: string | undefined): unknown {
  const now = dateOf({ headers: { date } })
  if (now === null) return body
  for (const each of Array.isArray(body) ? body : [body]) {
    const raw = asRecord(each)
    if (typeof raw.updated_at === 'string' && Date.parse(raw.updated_at) > Date.parse(now))
      raw.updated_at = now
  }
  return body
}

export const unreachable = (reason: string): Unreachable => ({ outcome: 'unreachable', reason })

/** Cast: Octokit's headers are a plain object. */
export const plain = (headers: object) => headers as Record<string, string | undefined>

/** Octokit would log to the console. */
export const QUIET = { debug() {}, info() {}, warn() {}, error() {} }
