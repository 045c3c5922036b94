import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { identityProviderNotFound } from '../errors/index.ts'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import type { MinuteLimit } from '../lib/minute-limit.ts'
import { BegunSignIn, InviteAtProvider } from '../schemas/identity-provider.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import type { SignInError } from '../schemas/sign-in-error.ts'
import type { Services } from '../services/index.ts'
import { signInFailure } from '../services/metrics/index.ts'
import { ATTEMPT_COOKIE, clearAttemptCookie, setAttemptCookie } from './auth-cookie.ts'
import { cookieOptions, setSessionCookie } from './session-cookie.ts'

interface ProviderSignInOptions extends Pick<Services, 'signInAtProvider' | 'metrics'> {
  /** Whether the public URL is https, whatever the protocol of the last hop. */
  isPublicHttps: boolean
  /** Begun sign-ins of an address: each is a row for ten minutes, and a request to the provider. */
  attempts: MinuteLimit
}

interface Browser {
  Params: { id: string }
}

/** The pages between which a browser moves to sign in at an identity provider. Each responds with another address. */
export const providerSignInRoutes: FastifyPluginAsyncTypebox<ProviderSignInOptions> = async (
  app,
  options,
) => {
  const { signInAtProvider, attempts, metrics } = options
  const cookieFor = cookieOptions(options)
  const schema = { hide: true }
  // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
  app.addHook('onError', async (_request, _reply, error) => {
    // Others are of addresses that are no provider's.
    if (signInFailure(app.asAppError(error)) === 'failed') metrics.signedIn('provider', 'failed')
  })

  app.get<Browser>('/:id', { exposeHeadRoute: false, schema }, async (request, reply) => {
    const providerId = idOf(request)
    if (attempts.take(request.ip)?.isExceeded) return refuse(reply, { error: 'too_many_attempts' })
    const returnTo = new URLSearchParams(request.url.split('?')[1]).get('returnTo') ?? '/'
    const begun = await signInAtProvider.begin({ providerId, returnTo })
    if (!begun) throw identityProviderNotFound(providerId)
    if (begun.outcome === 'refused') return refuse(reply, begun)
    setAttemptCookie(reply, { token: begun.token, options: cookieFor(request) })
    return reply.redirect(begun.url, 303)
  })

  app.get<Browser>('/:id/callback', { exposeHeadRoute: false, schema }, async (request, reply) => {
    const providerId = idOf(request)
    const token = request.cookies[ATTEMPT_COOKIE]
    const { 'user-agent': userAgent } = request.headers
    const completed = await signInAtProvider.complete({ providerId, token, path: request.url, userAgent })
    const isUsed = completed.outcome !== 'refused' || !UNUSED.includes(completed.error)
    if (isUsed) clearAttemptCookie(reply)
    if (completed.outcome === 'refused') return refuse(reply, completed)
    const { opened, returnTo } = completed
    if (completed.outcome === 'signed in') metrics.signedIn('provider', 'succeeded')
    if (opened) setSessionCookie(reply, { token: opened.token, options: cookieFor(request) })
    return reply.redirect(returnTo, 303)
  })

  /** Every refusal leads to the page that explains it. */
  function refuse(reply: FastifyReply, { error, reason }: { error: SignInError; reason?: string }) {
    reply.log.warn({ error, reason }, 'sign-in at an identity provider refused')
    // Nobody has begun what these refuse, or it continues after the import.
    if (!UNUSED.includes(error)) metrics.signedIn('provider', FAULTS.includes(error) ? 'failed' : 'refused')
    return reply.redirect(`/sign-in?error=${error}`, 303)
  }
}

/** Refusals for a reason of the service or the provider. */
const FAULTS: SignInError[] = ['public_url_missing', 'provider_unreachable', 'provider_rejected']

/** Refusals after which the attempt can still be completed. */
const UNUSED: SignInError[] = ['attempt_invalid', 'import_in_progress']

/** @throws identity_provider_not_found for what no provider can have */
function idOf({ params: { id } }: FastifyRequest<Browser>): string {
  if (/^(env|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i.test(id)) return id.toLowerCase()
  throw identityProviderNotFound(id.slice(0, 100))
}

interface InviteOptions extends Omit<ProviderSignInOptions, 'attempts' | 'metrics'> {
  guards: preHandlerAsyncHookHandler[]
}

/** Begins to accept an invite at an identity provider. The secret is in the body: never in an address. */
export const invitesAtProvidersRoutes: FastifyPluginAsyncTypebox<InviteOptions> = async (app, options) => {
  const cookieFor = cookieOptions(options)

  app.post(
    '/invites/accept-at-provider',
    {
      bodyLimit: 8 * 1024,
      preHandler: [...options.guards, refuseIdempotencyKey],
      config: {
        errors: [
          'idempotency_not_supported',
          'origin_not_allowed',
          'invite_invalid',
          'username_taken',
          'identity_provider_not_found',
          'identity_provider_unreachable',
          'public_url_missing',
          'rate_limited',
        ],
      },
      schema: {
        tags: ['Access'],
        operationId: 'acceptInviteAtProvider',
        summary: 'Accept an invite at an identity provider',
        description:
          'Begins to accept an invite without a password: open the returned page of the identity provider in the same browser. Signing in there creates the person, or links the provider to the person whom the invite is for, and signs in. Sets a cookie that ties both steps together.',
        body: ref(InviteAtProvider),
        response: { 200: responses(ref(BegunSignIn), { description: 'Where to continue.' }) },
      },
    },
    async (request, reply) => {
      const { token, url } = await options.signInAtProvider.acceptInvite(request.body)
      setAttemptCookie(reply, { token, options: cookieFor(request) })
      return { url }
    },
  )
}
