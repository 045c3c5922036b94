import type { FastifyReply, FastifyRequest } from 'fastify'
import { SESSION_COOKIE } from '../guards/caller.ts'

/** Longer than any session: the service ends a session by its last use. */
const COOKIE_SECONDS = 30 * 86_400

/** Returns what all cookies of this service have in common, for the protocol that the browser sees. */
export const cookieOptions =
  ({ isPublicHttps }: { isPublicHttps: boolean }) =>
  ({ protocol }: FastifyRequest) =>
    ({ httpOnly: true, sameSite: 'strict', secure: isPublicHttps || protocol === 'https' }) as const

interface CookieValue {
  token: string
  options: ReturnType<ReturnType<typeof cookieOptions>>
}

/** Signs a browser in. */
export function setSessionCookie(reply: FastifyReply, { token, options }: CookieValue): void {
  reply.setCookie(SESSION_COOKIE, token, { ...options, path: '/', maxAge: COOKIE_SECONDS })
}

/** Tells a browser that knows the password from those of strangers; only sent to sign in. */
export const BROWSER_COOKIE = 'inlet_browser'
const BROWSER_SECONDS = 365 * 86_400

export function setBrowserCookie(reply: FastifyReply, { token, options }: CookieValue): void {
  reply.setCookie(BROWSER_COOKIE, token, { ...options, path: '/api/sessions', maxAge: BROWSER_SECONDS })
}
