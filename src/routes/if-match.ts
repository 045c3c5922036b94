import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { validationFailed } from '../errors/index.ts'

export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The ETag you read. When it has changed since, nothing is written and the answer is 412.',
      examples: ['"3"'],
    }),
  ),
})

/** The versions an `If-Match` allows; undefined when any will do. A weak tag never matches (RFC 9110, 13.1.1). */
export function allowedVersions(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  if (!/^(W\/)?"[^"]*"([ \t]*,[ \t]*(W\/)?"[^"]*")*$/.test(header.trim())) {
    throw validationFailed([
      {
        path: 'header.if-match',
        code: 'wrong_format',
        message: 'must be * or versions in quotes, such as "3"',
      },
    ])
  }
  const tags = header.match(/(W\/)?"[^"]*"/g) ?? []
  return tags.filter((tag) => /^"[1-9]\d*"$/.test(tag)).map((tag) => Number(tag.slice(1, -1)))
}

/** Puts the version on the answer as its ETag. */
export function tagged<T extends { version: number }>(reply: Pick<FastifyReply, 'header'>, resource: T): T {
  reply.header('etag', etagOf(resource))
  return resource
}

export const etagOf = ({ version }: { version: number }) => `"${version}"`
