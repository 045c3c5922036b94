import type { Configuration } from 'openid-client'
import { asRecord } from '../lib/as-record.ts'
import { errorChain } from '../lib/error-chain.ts'
import { isLoopback } from '../lib/loopback.ts'
import { traced } from '../lib/traced.ts'
import { repaired } from '../schemas/formats.ts'
import { describeNetworkError } from './network-error.ts'
import { failed, requestTo, responded } from './traced-request.ts'

type OpenId = typeof import('openid-client')
/** Nothing of them is trusted to have a form. */
type Claims = Record<string, unknown>

/** How Inlet is known to an identity provider. */
export interface ProviderAccess {
  id: string
  issuer: string
  clientId: string
  clientSecret: string
  scopes: string[]
}

/** What the response of a provider is checked against. */
export interface SignInChecks {
  state: string
  nonce: string
  /** Of PKCE. */
  verifier: string
}

/** Why a provider is of no use. The reason is for users who manage it. */
export interface ProviderFailure {
  /**
   * `unreachable`: down, slow, or not OpenID Connect. `refused`: it let nobody in. `rejected`: it does not accept the
   * client or the code. `invalid`: its response does not prove anything.
   */
  outcome: 'unreachable' | 'refused' | 'rejected' | 'invalid'
  reason: string
}

interface TestedStep {
  step: 'discovery' | 'keys'
  isOk: boolean
  message: string
}

export type IdentityProviderClient = ReturnType<typeof identityProviderClient>

interface ClientOptions {
  timeoutMs?: number | undefined
}

const MAX_RESPONSE_BYTES = 1024 * 1024
const CLOCK_TOLERANCE_SECONDS = 60
/** A provider may change its configuration. Its keys are read again when it signs with an unknown one. */
const CONFIGURATION_MS = 10 * 60_000
const MAX_CONFIGURATIONS = 20
/** What Inlet asks for in addition, if the ID token lacks it. */
const PROFILE_CLAIMS = ['email', 'email_verified', 'name', 'preferred_username']

/** Signs people in at identity providers: the only file that imports openid-client, with the first sign-in. */
export function identityProviderClient({ timeoutMs = 5_000 }: ClientOptions = {}) {
  const configurations = new Map<string, { promise: Promise<Configuration>; until: number }>()

  return {
    /** The page of the provider to send a browser to. */
    async begin(
      access: ProviderAccess,
      { state, nonce, verifier, redirectUrl }: SignInChecks & { redirectUrl: string },
    ): Promise<{ outcome: 'begun'; url: string } | ProviderFailure> {
      try {
        const openid = await import('openid-client')
        const url = openid.buildAuthorizationUrl(await configurationOf(openid, access), {
          redirect_uri: redirectUrl,
          scope: [...new Set(['openid', ...access.scopes])].join(' '),
          state,
          nonce,
          code_challenge: await openid.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        })
        return { outcome: 'begun', url: url.href }
      } catch (error) {
        return failureOf(error)
      }
    },

    /** Exchanges the code in the URL that the browser came back to, and verifies what the provider says. */
    async complete(
      access: ProviderAccess,
      { state, nonce, verifier, url, groupsClaim }: SignInChecks & { url: URL; groupsClaim: string },
    ): Promise<{ outcome: 'verified'; issuer: string; claims: Claims } | ProviderFailure> {
      try {
        const openid = await import('openid-client')
        const configuration = await configurationOf(openid, access)
        const tokens = await openid.authorizationCodeGrant(configuration, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims: Claims = { ...tokens.claims() }
        // openid-client requires it only if there are several audiences.
        if (claims.azp !== undefined && claims.azp !== access.clientId) {
          return { outcome: 'invalid', reason: 'The ID token is for another client.' }
        }
        const { issuer, userinfo_endpoint: endpoint } = configuration.serverMetadata()
        const isComplete = [...PROFILE_CLAIMS, groupsClaim].every((name) => Object.hasOwn(claims, name))
        if (isComplete || !endpoint) return { outcome: 'verified', issuer, claims }
        const more = await openid.fetchUserInfo(configuration, tokens.access_token, String(claims.sub))
        // Whether an address is verified is said beside it.
        const { email, email_verified } = Object.hasOwn(claims, 'email') ? claims : more
        return { outcome: 'verified', issuer, claims: { ...more, ...claims, email, email_verified } }
      } catch (error) {
        return failureOf(error)
      }
    },

    /** Reads the configuration and the keys of a provider, without the cache. */
    async test(access: ProviderAccess): Promise<TestedStep[]> {
      const openid = await import('openid-client')
      try {
        const { issuer, jwks_uri: url } = (await discover(openid, access)).serverMetadata()
        if (!url) throw new NotOpenId('The configuration has no jwks_uri.')
        const found: TestedStep = { step: 'discovery', isOk: true, message: `The provider is ${issuer}.` }
        return [found, await testKeys(url, access)]
      } catch (error) {
        return [{ step: 'discovery', isOk: false, message: failureOf(error).reason }]
      }
    },

    /** Forgets what is known of providers, because one was changed. */
    forget: () => configurations.clear(),
  }

  /** One discovery for all who need it at once. One that failed is not kept. */
  function configurationOf(openid: OpenId, access: ProviderAccess): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = access
    const key = JSON.stringify([issuer, clientId, clientSecret])
    const now = performance.now()
    const known = configurations.get(key)
    if (known && known.until > now) return known.promise
    if (configurations.size >= MAX_CONFIGURATIONS) configurations.clear()
    const promise = discover(openid, access)
    configurations.set(key, { promise, until: now + CONFIGURATION_MS })
    promise.catch(() => configurations.get(key)?.promise === promise && configurations.delete(key))
    return promise
  }

  async function discover(openid: OpenId, access: ProviderAccess): Promise<Configuration> {
    const issuer = new URL(access.issuer)
    const mayBeHttp = isLoopback(issuer.hostname)
    if (issuer.protocol !== 'https:' && !mayBeHttp) throw new NotOpenId('The issuer is not https.')
    const configuration = await openid.discovery(
      issuer,
      access.clientId,
      { client_secret: access.clientSecret, [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authenticationOf(openid, access.clientSecret),
      {
        timeout: timeoutMs / 1_000,
        [openid.customFetch]: (url, init) => limitedFetch(url, { init: init as RequestInit, mayBeHttp }),
        execute: [
          // Otherwise, an ID token that comes from the token endpoint counts without a signature.
          openid.enableNonRepudiationChecks,
          ...(mayBeHttp ? [openid.allowInsecureRequests] : []),
        ],
      },
    )
    // openid-client does not compare it everywhere. Another one could answer for a provider that people have linked.
    const { issuer: given } = configuration.serverMetadata()
    if (URL.parse(given)?.href !== issuer.href) throw new NotOpenId(OTHER_ISSUER)
    return configuration
  }

  async function testKeys(url: string, { issuer }: ProviderAccess): Promise<TestedStep> {
    const failed = (message: string): TestedStep => ({ step: 'keys', isOk: false, message })
    try {
      const init = { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) } as const
      const response = await limitedFetch(url, { init, mayBeHttp: isLoopback(new URL(issuer).hostname) })
      if (response.status !== 200) return failed(`The provider responded with ${response.status}.`)
      const { keys } = asRecord(await response.json())
      if (!Array.isArray(keys) || keys.length === 0) return failed('The provider has no keys.')
      return { step: 'keys', isOk: true, message: `The provider has ${keys.length} keys.` }
    } catch (error) {
      return failed(failureOf(error).reason)
    }
  }
}

/** The ways in which the provider takes the secret. Without a list, it is the first one. */
function authenticationOf(openid: OpenId, secret: string) {
  const ways = {
    client_secret_basic: openid.ClientSecretBasic(secret),
    client_secret_post: openid.ClientSecretPost(secret),
  }
  // biome-ignore lint/complexity/useMaxParams: the signature of openid-client.
  return ((server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const way = supported.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post'
    ways[way](server, client, body, headers)
  }) satisfies import('openid-client').ClientAuth
}

class NotOpenId extends Error {}

interface LimitedRequest {
  init: RequestInit
  /** Whether http is allowed to this machine. */
  mayBeHttp: boolean
}

/** Fetches at most 1 MiB. */
function limitedFetch(text: string, { init, mayBeHttp }: LimitedRequest): Promise<Response> {
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(mayBeHttp && isLoopback(url.hostname)))
    throw new NotOpenId('A URL is not https.')
  return traced(requestTo(url, { method: init.method ?? 'GET' }), async (note) => {
    try {
      const { status, headers, body } = await fetch(url, init)
      note(responded(status))
      const chunks: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of body ?? []) {
        bytes += chunk.byteLength
        if (bytes > MAX_RESPONSE_BYTES) throw new NotOpenId('A response has more than 1 MiB.')
        chunks.push(chunk)
      }
      return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers })
    } catch (error) {
      note(failed(error))
      throw error
    }
  })
}

const OTHER_ISSUER = 'The provider has another issuer. Copy it from its configuration.'
const LATE = 'The provider did not respond in time.'

/** What makes a provider unusable, for those who manage it. */
const UNREACHABLE: Record<string, string> = {
  OAUTH_TIMEOUT: LATE,
  OAUTH_ABORT: LATE,
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'The provider responded with another status than expected.',
  OAUTH_RESPONSE_IS_NOT_JSON: 'The response of the provider is not JSON.',
  OAUTH_PARSE_ERROR: 'The response of the provider is not valid JSON.',
  OAUTH_HTTP_REQUEST_FORBIDDEN: 'A URL in the configuration of the provider is not https.',
  OAUTH_REQUEST_PROTOCOL_FORBIDDEN: 'A URL in the configuration of the provider is not https.',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: OTHER_ISSUER,
  OAUTH_MISSING_SERVER_METADATA: 'The configuration of the provider is incomplete.',
  OAUTH_INVALID_SERVER_METADATA: 'The configuration of the provider is invalid.',
}

/** Errors of openid-client have codes; others are of the network. */
function failureOf(error: unknown): ProviderFailure {
  const { code, error: refusal, status } = asRecord(error)
  const ours = errorChain(error).find((link) => link instanceof NotOpenId)
  if (ours) return { outcome: 'unreachable', reason: ours.message ?? '' }
  const name = typeof code === 'string' && code.startsWith('OAUTH_') ? code : undefined
  if (name === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') {
    return { outcome: 'refused', reason: `The provider responded with ${quoted(refusal)}.` }
  }
  if (name === 'OAUTH_RESPONSE_BODY_ERROR' || name === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') {
    return { outcome: 'rejected', reason: `The provider responded with ${status}: ${quoted(refusal)}.` }
  }
  const unreachable = name && UNREACHABLE[name]
  if (unreachable) return { outcome: 'unreachable', reason: unreachable }
  if (name) return { outcome: 'invalid', reason: `${(error as Error).message}.` }
  const isLate = errorChain(error).some(({ name }) => name === 'TimeoutError')
  return { outcome: 'unreachable', reason: isLate ? LATE : describeNetworkError(error) }
}

/** What the provider wrote may be anything. */
const quoted = (text: unknown) => JSON.stringify(repaired(String(text ?? 'an error').slice(0, 100)))
