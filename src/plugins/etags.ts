import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { validationFailed } from '../errors/index.ts'
import { etagOf, matchesEtag, versionsIn } from '../lib/etag.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The versions that `If-Match` allows; undefined for any. */
    allowedVersions(): number[] | undefined
  }
  interface FastifyReply {
    /** Sets the version of the resource as the ETag, and returns the resource. */
    withVersion<T extends { version: number }>(resource: T): T
    /** Sets the ETag. Returns whether the caller already has the response with this ETag. */
    isNotModified(etag: string): boolean
  }
}

/** Conditional requests: `If-Match` for writes, `If-None-Match` for reads. */
export const etags = fp(
  async function etags(app: FastifyInstance) {
    app.decorateRequest('allowedVersions', function (this: FastifyRequest) {
      const versions = versionsIn(this.headers['if-match'])
      if (versions === 'invalid') throw validationFailed([INVALID_IF_MATCH])
      return versions
    })
    app.decorateReply('withVersion', function <
      T extends { version: number },
    >(this: FastifyReply, resource: T) {
      this.header('etag', etagOf(resource))
      return resource
    })
    app.decorateReply('isNotModified', function (this: FastifyReply, etag: string) {
      this.header('etag', etag)
      return matchesEtag(this.request.headers['if-none-match'], etag)
    })
  },
  { name: 'etags' },
)

const INVALID_IF_MATCH = {
  path: 'header.if-match',
  code: 'wrong_format',
  message: 'must be * or versions in quotes, such as "3"',
}
