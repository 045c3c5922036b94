import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { asRecord } from '../lib/as-record.ts'
import { type Note, traced } from '../lib/traced.ts'
import type { AppCredentials, Refusal, Unreachable } from './codehost.ts'
import { outcomeOf, QUIET, refusalOf, unreachable } from './host-response.ts'
import { failed, requestTo, responded } from './traced-request.ts'

/** Tokens last an hour. The host may also end them earlier: a rejected token is replaced. */
const MAX_AGE_MS = 59 * 60_000
const MAX_TOKENS = 1_000

interface InstallationToken {
  outcome: 'token'
  token: string
  /** Whether the host says that it may not change issues. */
  isReadOnly: boolean
  /** Whether it was requested by this call. */
  isNew: boolean
}

interface AppTokensOptions {
  timeoutMs: number
  userAgent: string
  onError(error: unknown): void
  now?: () => number
}

interface TokenRequest {
  apiUrl: string
  app: AppCredentials
  signal: AbortSignal | undefined
  /** A token that the host rejected: not returned again. */
  rejected?: string | undefined
}

/** Requests the tokens of GitHub App installations, and keeps them until shortly before they expire. */
export function appTokens({ timeoutMs, userAgent, onError, now = Date.now }: AppTokensOptions) {
  const tokens = new LRUCache<string, { token: string; isReadOnly: boolean; createdAt: number }>({
    max: MAX_TOKENS,
  })
  const turns = new Map<number, Promise<unknown>>()

  return { tokenOf, forget }

  /** The next token is a new one: those of before lack what the App is granted since. */
  function forget(request: Pick<TokenRequest, 'apiUrl' | 'app'>): void {
    tokens.delete(keyOf(request))
  }

  async function tokenOf(request: TokenRequest): Promise<InstallationToken | Refusal | Unreachable> {
    const { app, rejected } = request
    const id = keyOf(request)
    const known = (): InstallationToken | undefined => {
      const kept = tokens.get(id)
      if (!kept || kept.token === rejected || now() - kept.createdAt >= MAX_AGE_MS) return undefined
      const { token, isReadOnly } = kept
      return { outcome: 'token', token, isReadOnly, isNew: false }
    }
    const renew = async (timeout: AbortSignal) => {
      const createdAt = now()
      const url = new URL(`${request.apiUrl}/app/installations/${app.installationId}/access_tokens`)
      const work = requestTo(url, { method: 'POST' })
      const found = await traced(work, (note) => requestToken(request, { timeout, note }))
      if (found.outcome === 'token') {
        tokens.set(id, { token: found.token, isReadOnly: found.isReadOnly, createdAt })
      }
      return found
    }
    const kept = known()
    if (kept) return kept
    // It includes the time before its turn: a host that doesn't respond delays each caller once.
    const timeout = AbortSignal.timeout(timeoutMs)
    return inTurn(app.installationId, async () => known() ?? renew(timeout))
  }

  /** auth-app shares a pending request by installation ID alone, whatever the host, the App and its key: one at a time. */
  async function inTurn<T>(installationId: number, work: () => Promise<T>): Promise<T> {
    const result = (turns.get(installationId) ?? Promise.resolve()).then(work)
    const settled = result.then(
      () => {},
      () => {},
    )
    turns.set(installationId, settled)
    try {
      return await result
    } finally {
      if (turns.get(installationId) === settled) turns.delete(installationId)
    }
  }

  async function requestToken(
    { apiUrl, app, signal }: TokenRequest,
    { timeout, note }: { timeout: AbortSignal; note: Note },
  ): Promise<InstallationToken | Refusal | Unreachable> {
    // Loaded when it is needed, as in `github.ts`.
    const { createAppAuth } = await import('@octokit/auth-app')
    const { Octokit } = await import('@octokit/rest')
    const octokit = new Octokit({
      baseUrl: apiUrl,
      userAgent,
      log: QUIET,
      authStrategy: createAppAuth,
      // Tokens are kept here: a cache of auth-app would need an instance, and thus a signal, for all requests.
      auth: { ...app, cache: { get: () => '', set() {} } },
      request: { signal: signal ? AbortSignal.any([signal, timeout]) : timeout, redirect: 'manual' },
    })
    try {
      const { token, permissions } = asRecord(await octokit.auth({ type: 'installation' }))
      note(responded(201))
      // The token becomes part of a header.
      if (typeof token !== 'string' || !/^[!-~]+$/.test(token)) {
        return unreachable('The response has no token for the GitHub App.')
      }
      return { outcome: 'token', token, isReadOnly: asRecord(permissions).issues === 'read', isNew: true }
    } catch (error) {
      const response = outcomeOf(error, { signal, timeout, timeoutMs, onError })
      note(response.outcome === 'responded' ? responded(response.status) : failed(error))
      if (response.outcome !== 'responded') return response
      const refusal = refusalOf(response)
      return refusal.outcome === 'refused' ? { ...refusal, isTokenRequest: true } : refusal
    }
  }
}

/** The private key is part of it: whoever knows only the IDs of another App gets no token of it. */
const keyOf = ({ apiUrl, app }: Pick<TokenRequest, 'apiUrl' | 'app'>): string =>
  createHash('sha256')
    .update(JSON.stringify([apiUrl, app.appId, app.installationId, app.privateKey]))
    .digest('base64')
