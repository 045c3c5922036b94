import type { FastifyReply } from 'fastify'
import type { cookieOptions } from './session-cookie.ts'

/** Ties a sign-in at an identity provider to the browser that began it. */
export const ATTEMPT_COOKIE = 'inlet_sign_in'

const PATH = '/auth'
const SECONDS = 10 * 60

interface Attempt {
  token: string
  options: ReturnType<ReturnType<typeof cookieOptions>>
}

/** Lax: the browser returns from another site. */
export function setAttemptCookie(reply: FastifyReply, { token, options }: Attempt): void {
  reply.setCookie(ATTEMPT_COOKIE, token, { ...options, sameSite: 'lax', path: PATH, maxAge: SECONDS })
}

export const clearAttemptCookie = (reply: FastifyReply) => reply.clearCookie(ATTEMPT_COOKIE, { path: PATH })
