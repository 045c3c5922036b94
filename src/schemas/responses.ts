import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'

/** A JSON response with its description and headers, in the format of both Fastify and OpenAPI. */
export const responses = <T extends TSchema>(
  schema: T,
  { description, headers = {} }: { description: string; headers?: Record<string, TSchema> },
) => ({
  description,
  headers: { 'x-request-id': RequestId, ...headers },
  content: { 'application/json': { schema } },
})

/** A response without a body. */
export const emptyResponse = (description: string) =>
  Type.Null({ description, headers: { 'x-request-id': RequestId } })

const RequestId = Type.String({
  maxLength: 128,
  description: 'The ID of the request. It is also in the log.',
})

export const ETag = Type.String({
  maxLength: 12,
  description: 'The version in quotes, for `If-Match`.',
  examples: ['"3"'],
})

export const Location = Type.String({ maxLength: 200, description: 'The URL of the created resource.' })

export const ContentETag = Type.String({
  maxLength: 64,
  description: 'Identifies this response, for `If-None-Match`.',
  examples: ['W/"x3VwYb0cQm2bGdS0y4GkNf1h2Zc"'],
})
