import { hash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

export const IfNoneMatch = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The ETag of the response you have. The response is 304 while nothing changed.',
    }),
  ),
})

export const ContentETag = Type.String({
  maxLength: 64,
  description: 'Stands for the whole response, for `If-None-Match`.',
  examples: ['W/"x3VwYb0cQm2bGdS0y4GkNf1h2Zc"'],
})

/** A tag of all that the content holds. A weak one is of what it means: some of what is sent may differ. */
export function etagOfContent(content: unknown, { isWeak = false } = {}): string {
  return `${isWeak ? 'W/' : ''}"${hash('sha256', JSON.stringify(content), 'base64url').slice(0, 27)}"`
}

/** Puts the tag on the response, and says whether the caller has what it stands for; weak tags count (RFC 9110, 13.1.2). */
export function isKnown(request: FastifyRequest, reply: Pick<FastifyReply, 'header'>, etag: string): boolean {
  reply.header('etag', etag)
  const given = request.headers['if-none-match']
  if (given === undefined) return false
  return (
    given.trim() === '*' || [...given.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag.replace(/^W\//, ''))
  )
}
