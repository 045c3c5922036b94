import type { FastifyReply, FastifyRequest } from 'fastify'
import { SESSION_COOKIE } from '../guards/caller.ts'

/** Longer than any session: the service ends a session by its last use. */
const COOKIE_SECONDS = 30 * 86_400

/** Returns what all cookies of this service have in common, for the protocol that the browser sees. */
export const cookieOptions =
  ({ isPublicHttps }: { isPublicHttps: boolean }) =>
  ({ protocol }: FastifyRequest) =>
    ({ httpOnly: true, sameSite: 'strict', secure: isPublicHttps || protocol === 'https' }) as const

/** Signs a browser in. */
export function setSessionCookie(
  reply: FastifyReply,
  { token, options }: { token: string; options: ReturnType<ReturnType<typeof cookieOptions>> },
): void {
  reply.setCookie(SESSION_COOKIE, token, { ...options, path: '/', maxAge: COOKIE_SECONDS })
}
