import { createHmac } from 'node:crypto'
import type {
  IdentityProviderClient,
  ProviderFailure,
  SignInChecks,
} from '../../clients/identity-provider.ts'
import { subjectOf } from '../../domain/identity.ts'
import { returnPathOf } from '../../domain/return-path.ts'
import { hashOf } from '../../domain/secret.ts'
import {
  AppError,
  identityProviderNotFound,
  identityProviderUnreachable,
  importInProgress,
  publicUrlMissing,
  usernameTaken,
} from '../../errors/index.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import type { SignInAttemptRow } from '../../repositories/people/sign-in-attempts.ts'
import type { BegunSignIn, InviteAtProvider } from '../../schemas/identity-provider.ts'
import type { SignInError } from '../../schemas/sign-in-error.ts'
import type { ImportState } from '../import-state.ts'
import type { PipeRecorder } from '../recorder.ts'
import type { OpenedSession } from '../sessions.ts'
import { redirectUrlOf } from './identity-providers.ts'
import type { InviteRedemption } from './invite-redemption.ts'
import type { PersonFinder } from './person-of-identity.ts'
import type { ProviderDirectory } from './provider-directory.ts'

interface ProviderSignInDeps {
  repos: Repositories
  randomBytes(size: number): Buffer
  client: Pick<IdentityProviderClient, 'begin' | 'complete'>
  directory: ProviderDirectory
  personOf: PersonFinder
  redemption: Pick<InviteRedemption, 'find'>
  importing: Pick<ImportState, 'isRunning'>
  publicUrl: string | undefined
  pipes: PipeRecorder
}

/** What a sign-in at a provider is for; without both, to sign in. */
export interface SignInPurpose {
  providerId: string
  /** A path of the dashboard. */
  returnTo: string
  /** The person who links the provider. */
  userId?: string
  /** The session of that person. */
  sessionId?: string
  /** The invite that is accepted, and what was chosen. */
  invite?: { hash: string; username?: string; name?: string }
}

/** A sign-in that did not succeed. */
export interface Refused {
  outcome: 'refused'
  error: SignInError
  /** For the log. */
  reason?: string
}

interface Begun extends BegunSignIn {
  outcome: 'begun'
  /** For the cookie of the browser, and nothing else. */
  token: string
}

interface Returned {
  providerId: string
  /** What the browser has. */
  token: string | undefined
  /** Path and query of the request. */
  path: string
  userAgent: string | undefined
}

/** What an attempt of this kind stores. Nothing of it is secret. */
interface StoredChecks extends SignInPurpose {
  kind: 'provider'
}

export type ProviderSignIn = ReturnType<typeof providerSignIn>

/** Signs people in at identity providers: sends a browser there, and judges what it brings back. */
export function providerSignIn(deps: ProviderSignInDeps) {
  const { repos, randomBytes, client, directory, personOf, redemption, importing, publicUrl, pipes } = deps

  return {
    begin,

    beginFor,

    /**
     * Begins to accept an invite, which the sign-in completes.
     * @throws invite_invalid, username_taken, validation_failed, public_url_missing, import_in_progress,
     * identity_provider_not_found, identity_provider_unreachable
     */
    async acceptInvite({ secret, providerId, ...names }: InviteAtProvider): Promise<Begun> {
      const hash = hashOf(secret)
      const { names: chosen } = await redemption.find(hash, names)
      const isTaken = chosen && (await repos.within(everywhere).users.findByUsername(chosen.username))
      if (isTaken) throw usernameTaken(chosen.username)
      return beginFor({ providerId, returnTo: '/', invite: { hash, ...names } })
    },

    /** Completes an attempt, which is used up by it, except during an import. */
    async complete(returned: Returned): Promise<Refused | Completed> {
      const { providerId, token, path, userAgent } = returned
      if (importing.isRunning()) return refused('import_in_progress')
      const bound = repos.within(everywhere)
      // Other sites can send a browser here, too: that must not end a sign-in which it has begun.
      if (token && stateIn(path) !== checksOf(token).state) return refused('attempt_invalid')
      const attempt = token ? await bound.signInAttempts.take(hashOf(token)) : undefined
      const purpose = purposeOf(attempt, providerId)
      if (!token || !purpose) return refused('attempt_invalid')
      const provider = await directory.find(bound, providerId)
      if (!provider?.isActive) return refused('provider_off')
      const access = await directory.accessOf(bound, provider)
      if (!publicUrl) return refused('public_url_missing')
      if (!access) return broken(provider, { error: 'provider_rejected', reason: UNREADABLE })
      const url = new URL(publicUrl + path)
      const { groupsClaim } = provider
      const verified = await client.complete(access, { ...checksOf(token), url, groupsClaim })
      // Whoever signs in has declined, or is not let in there: the provider works.
      if (verified.outcome === 'refused') return refused('provider_denied', verified.reason)
      if (verified.outcome !== 'verified') {
        return broken(provider, { error: ERRORS[verified.outcome], reason: verified.reason })
      }
      pipes.succeeded({ kind: 'identity_provider', id: provider.id })
      const { issuer, claims } = verified
      const subject = subjectOf(claims)
      if (subject === undefined) return refused('response_invalid', 'The subject cannot be stored.')
      try {
        const found = await personOf({ providerId: provider.id, issuer, subject, claims, purpose, userAgent })
        return found.outcome === 'refused' ? found : { ...found, returnTo: purpose.returnTo }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (error.code === 'invite_invalid' || error.code === 'username_taken') return refused(error.code)
        if (error.code === 'validation_failed') return refused('invite_invalid')
        throw error
      }
    },
  }

  /**
   * The same for a request of the API.
   * @throws public_url_missing, import_in_progress, identity_provider_not_found, identity_provider_unreachable
   */
  async function beginFor(purpose: SignInPurpose): Promise<Begun> {
    const begun = await begin(purpose)
    if (!begun || (begun.outcome === 'refused' && begun.error === 'provider_off')) {
      throw identityProviderNotFound(purpose.providerId)
    }
    if (begun.outcome === 'begun') return begun
    if (begun.error === 'public_url_missing') throw publicUrlMissing()
    if (begun.error === 'import_in_progress') throw importInProgress()
    throw identityProviderUnreachable(begun.reason ?? 'The provider cannot be used.')
  }

  /** Returns undefined if there is no such provider. */
  async function begin(purpose: SignInPurpose): Promise<Begun | Refused | undefined> {
    const { providerId, returnTo, userId } = purpose
    const bound = repos.within(everywhere)
    const provider = await directory.find(bound, providerId)
    if (!provider) return undefined
    if (!provider.isActive) return refused('provider_off')
    if (importing.isRunning()) return refused('import_in_progress')
    const redirectUrl = redirectUrlOf(publicUrl, provider.id)
    if (!redirectUrl) return refused('public_url_missing')
    const returnPath = returnPathOf(returnTo)
    if (returnPath === undefined) return refused('return_invalid')
    const access = await directory.accessOf(bound, provider)
    if (!access) return broken(provider, { error: 'provider_rejected', reason: UNREADABLE })
    const token = randomBytes(32).toString('base64url')
    const begun = await client.begin(access, { ...checksOf(token), redirectUrl })
    if (begun.outcome !== 'begun') {
      return broken(provider, { error: 'provider_unreachable', reason: begun.reason })
    }
    const checks: StoredChecks = {
      ...purpose,
      returnTo: returnPath,
      providerId: provider.id,
      kind: 'provider',
    }
    await bound.signInAttempts.insert({ hash: hashOf(token), checks, userId: userId ?? null })
    return { ...begun, token }
  }

  /** A refusal that is not about who signs in. */
  function broken({ id }: { id: string }, { error, reason }: Required<Omit<Refused, 'outcome'>>): Refused {
    pipes.failed({ kind: 'identity_provider', id }, { code: error, message: reason })
    return refused(error, reason)
  }
}

interface Completed {
  outcome: 'signed in' | 'linked'
  /** Absent if a session was open already. */
  opened?: OpenedSession
  returnTo: string
}

const refused = (error: SignInError, reason?: string): Refused => ({
  outcome: 'refused',
  error,
  ...(reason !== undefined && { reason }),
})

const UNREADABLE = 'The client secret cannot be decrypted.'

const ERRORS: Record<Exclude<ProviderFailure['outcome'], 'refused'>, SignInError> = {
  unreachable: 'provider_unreachable',
  rejected: 'provider_rejected',
  invalid: 'response_invalid',
}

/** Derived from what only the browser has: the database has nothing that could complete an attempt. */
function checksOf(token: string): SignInChecks {
  const derived = (name: string) => createHmac('sha256', token).update(name).digest('base64url')
  return { state: derived('state'), nonce: derived('nonce'), verifier: derived('verifier') }
}

const stateIn = (path: string) => URL.parse(path, 'http://inlet.invalid')?.searchParams.get('state')

/** Cast: attempts of this kind are inserted by `begin`. */
function purposeOf(attempt: SignInAttemptRow | undefined, providerId: string): SignInPurpose | undefined {
  const checks = attempt?.checks as StoredChecks | undefined
  return checks?.kind === 'provider' && checks.providerId === providerId.toLowerCase() ? checks : undefined
}
