import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../../errors/index.ts'
import { VERSION } from '../../lib/version.ts'
import { namedSchemas } from '../../schemas/index.ts'
import { StrictObject } from '../../schemas/parts.ts'
import { PROBLEMS } from '../problems/types.ts'
import { withBounds } from './bounds.ts'
import { withSharedHeaders } from './headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors of this route, in addition to those of every route of its kind. */
    errors?: ErrorCode[]
  }
}

/** The API reference, from the schemas that validate requests. */
export const openapi = fp(
  async function openapi(app: FastifyInstance) {
    for (const schema of namedSchemas) app.addSchema(schema)
    app.addHook('onRoute', describeRoute)

    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Inlet',
          version: VERSION,
          description:
            'A self-hosted task service that turns bug reports, feedback, issues and pull requests into tasks. Errors are `application/problem+json`; use their `code` to handle them.',
          contact: { name: 'Operator of this Inlet', url: 'https://inlet.example/' },
          license: { name: 'MIT', identifier: 'MIT' },
        },
        servers: [SERVER],
        tags: [
          { name: 'Tasks', description: 'Create, list, update and delete tasks.' },
          { name: 'Claims', description: 'Claims of tasks by workers, each with a lease.' },
          { name: 'Comments', description: 'Comments on tasks.' },
          { name: 'Projects', description: 'Projects group lists and tasks.' },
          { name: 'Lists', description: 'Ordered lists of tasks in a project.' },
          {
            name: 'Rules',
            description: 'Instructions for AI assistants, and the context of their sessions.',
          },
          {
            name: 'Code host',
            description: 'Repositories connected to projects, and their sync runs.',
          },
          {
            name: 'Notifications',
            description: 'What people are notified of, and the tasks that they follow.',
          },
          { name: 'Activity', description: 'The activity log, and its live stream.' },
          {
            name: 'Feedback',
            description: 'The feedback receiver, and routing rules.',
          },
          {
            name: 'Sources',
            description: 'Other systems that send JSON, which becomes tasks.',
          },
          {
            name: 'Deliveries',
            description: 'What arrived at the feedback receiver, at sources, and from the code host.',
          },
          {
            name: 'Webhooks',
            description: 'Outgoing webhooks, which send changes to other systems.',
          },
          { name: 'Access', description: 'API keys, sessions and webhook secrets.' },
          { name: 'People', description: 'People who can sign in, and their invites.' },
          { name: 'Service', description: 'Health, status and metrics.' },
        ],
        components: {
          securitySchemes: {
            apiKey: {
              type: 'apiKey',
              in: 'header',
              name: 'X-API-Key',
              description: 'An API key. `Authorization: Bearer` takes it as well.',
            },
            webhookSecret: {
              type: 'http',
              scheme: 'bearer',
              description: 'A webhook secret.',
            },
            codehostSignature: {
              type: 'apiKey',
              in: 'header',
              name: 'X-Hub-Signature-256',
              description: 'A signature of the body with the webhook secret of a connection.',
            },
            sourceSecret: {
              type: 'http',
              scheme: 'bearer',
              description: 'The secret of the source, or what its `verify` names instead.',
            },
          },
        },
      },
      // Not on the route, where Fastify would compile a serializer for each error of each route: errors do not use
      // them, and with 65 routes they cost 2.4 s of CPU at every start.
      transform: ({ schema, url, route }) => ({ schema: schema && withProblems(schema, route), url }),
      transformObject: (document) => {
        if (!('openapiObject' in document)) throw new Error('The reference is OpenAPI 3.')
        return withSharedHeaders(withBounds(withHeads(document.openapiObject)))
      },
      // biome-ignore lint/complexity/useMaxParams: the plugin's signature.
      refResolver: { buildLocalReference: (json, _, __, i) => String(json.$id ?? `schema-${i}`) },
      hideUntagged: true,
    })
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  },
  { name: 'openapi', dependencies: ['problems', 'validation'] },
)

interface Operation {
  operationId?: string
  summary?: string
  security?: object[]
  responses?: Record<string, Response & { content?: object }>
}

/** Adds HEAD where it is supported: on routes without credentials, as in `plugins/methods.ts`. */
function withHeads<T extends { paths?: object }>(document: T): T {
  const paths = Object.entries((document.paths ?? {}) as Record<string, { get?: Operation }>)
  const withHead = (methods: { get?: Operation }) => {
    const { get } = methods
    if (get?.security?.length !== 0) return methods
    // Errors keep their content: it describes what GET returns.
    const responses = Object.entries(get.responses ?? {}).map(([status, { content, ...response }]) => [
      status,
      Number(status) < 400 ? response : { ...response, content },
    ])
    const head = {
      ...get,
      operationId: `${get.operationId}Head`,
      summary: `${get.summary} (headers only)`,
      responses: Object.fromEntries(responses),
    }
    return { ...methods, head }
  }
  return { ...document, paths: Object.fromEntries(paths.map(([path, methods]) => [path, withHead(methods)])) }
}

/** Typed here because the OpenAPI type has no extensions. */
const SERVER: { url: string; description: string; 'x-internal': boolean } = {
  url: '/',
  description: 'This server, whether local, staging, or production.',
  'x-internal': false,
}

/** Adds the security of a route, and rejects query parameters where none are declared. */
function describeRoute(route: RouteOptions) {
  const { schema, config } = route
  if (!schema || schema.hide) return
  schema.querystring ??= StrictObject({}, { description: 'No parameters.' })
  if (config?.operation) schema.security = [{ apiKey: [] }]
  else schema.security = config?.receiver ? [{ [config.receiver]: [] }] : []
}

/** The schema with all errors of the route. */
function withProblems(schema: FastifySchema, { config, method }: RouteOptions): FastifySchema {
  const codes: ErrorCode[] = [
    'validation_failed',
    ...(config?.operation
      ? (['missing_credentials', 'invalid_credentials', 'expired_credentials'] as const)
      : []),
    ...(config?.operation && config.operation.scope !== 'any' ? (['insufficient_scope'] as const) : []),
    ...(config?.operation?.isBeyondPersonalKeys ? (['personal_key'] as const) : []),
    ...(config?.receiver ? (['missing_credentials', 'invalid_credentials'] as const) : []),
    ...(config?.operation || config?.receiver ? (['rate_limited'] as const) : []),
    ...(schema.headers && 'idempotency-key' in (schema.headers as { properties: object }).properties
      ? (['request_in_progress', 'idempotency_key_reused'] as const)
      : []),
    ...(schema.body || method !== 'GET'
      ? (['invalid_json', 'request_timeout', 'body_too_large', 'unsupported_media_type'] as const)
      : []),
    ...(config?.errors ?? []),
    'internal_error',
    'unavailable',
  ]
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code][0])
  const problems = [...byStatus].map(([status, codes]) => [
    status,
    {
      description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}.`).join(' '),
      headers: errorHeaders(status),
      content: { 'application/problem+json': { schema: { $ref: 'Problem#' } } },
    },
  ])
  const responses: [string, Response][] = Object.entries({
    ...(schema.response as Record<string, Response>),
    ...Object.fromEntries(problems),
  })
  const isLimited = codes.includes('rate_limited')
  return {
    ...schema,
    response: Object.fromEntries(
      responses.map(([status, response]) => [
        status,
        isLimited ? withLimitHeaders(status, response) : response,
      ]),
    ),
  }
}

interface Response {
  headers?: object
}

/** Adds the headers of the rate limit to responses below 500. */
function withLimitHeaders(status: string, response: Response): Response {
  return Number(status) < 500 ? { ...response, headers: { ...response.headers, ...LIMIT_HEADERS } } : response
}

const LIMIT_HEADERS = {
  RateLimit: {
    type: 'string',
    maxLength: 64,
    description:
      'The requests left, and the seconds until the limit resets. Omitted if there is no limit, or the caller is unknown.',
    examples: ['"key";r=599;t=42'],
  },
  'RateLimit-Policy': {
    type: 'string',
    maxLength: 64,
    description: 'The number of requests allowed for each caller in a number of seconds.',
    examples: ['"key";q=600;w=60'],
  },
}

function errorHeaders(status: number) {
  const requestId = {
    'x-request-id': {
      type: 'string',
      maxLength: 128,
      description: 'The ID of the request. It is also in the log.',
    },
  }
  if (status === 401) {
    return {
      ...requestId,
      'www-authenticate': { type: 'string', const: 'ApiKey', description: 'Always `ApiKey`.' },
    }
  }
  if (status === 503 || status === 429) {
    return { ...requestId, 'Retry-After': { type: 'integer', description: 'The number of seconds to wait.' } }
  }
  return requestId
}
