import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import secureJson from 'secure-json-parse'
import { AppError, bodyTooLarge, invalidJson, unsupportedMediaType, validationFailed } from '../errors.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import { type JsonScan, jsonScan } from '../lib/json-scan.ts'
import type { SideThread } from '../lib/side-thread.ts'
import { Closed } from '../schemas/parts.ts'
import type { WorkerJobs } from '../worker.ts'
import { escapePointer, grouped } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the body could not be read; thrown once the guards have let the caller in. */
    bodyMistake: AppError | null
    /** A guard refused the caller by headers alone: the body is neither read nor checked. */
    isRefused: boolean
  }
  interface FastifyInstance {
    bodyIntake: BodyIntake
    /** Reads what would hold up everybody else for too long. */
    worker: SideThread<WorkerJobs>
  }
  interface FastifyContextConfig {
    /** How many values the body may hold, where it is not `MAX_VALUES`. */
    maxValues?: number
  }
}

interface JsonBodyOptions {
  /** Receives all bodies of the process. */
  bodyIntake: BodyIntake
  worker: SideThread<WorkerJobs>
}

/** Ten times what any valid body of this size holds, and what is parsed in a few milliseconds. */
const MAX_VALUES = 110_000

/**
 * A caller who may not come in learns nothing of the body. Fastify parses and validates before preHandler
 * hooks, so parsing keeps its mistake, validation is attached, and `refuseBadInput` throws either as the last
 * preHandler of every route, after the guards.
 */
export const jsonBody = fp<JsonBodyOptions>(
  async function jsonBody(app: FastifyInstance, { bodyIntake, worker }) {
    app.decorate('bodyIntake', bodyIntake)
    app.decorate('worker', worker)
    app.addHook('onClose', () => worker.close())
    app.decorateRequest('bodyMistake', null)
    app.decorateRequest('isRefused', false)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
      keepingMistakes(request, async () => {
        const scan = jsonScan({ maxValues: request.routeOptions.config.maxValues ?? MAX_VALUES })
        return parse(await read(request, payload, scan))
      }),
    )
    app.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      keepingMistakes(request, async () => {
        const body = await read(request, payload)
        if (body.length > 0) throw unsupportedMediaType(request.headers['content-type'])
        return {}
      }),
    )
    app.addHook('onRequest', async ({ raw: { headers } }) => {
      // Fastify refuses a type it cannot read before any guard; as bytes of no type the body comes to our parser.
      if (!isMediaType(headers['content-type'])) headers['content-type'] = 'application/octet-stream'
    })
    app.addHook('preValidation', async (request) => {
      if (request.body === undefined && request.routeOptions.schema?.body) request.body = {}
    })

    const refusalOfAnything = app.compileCheck(Closed({}, { description: 'Nothing is asked.' }))
    async function refuseBadInput(request: FastifyRequest) {
      // Path first, then body, then query.
      if (request.validationError?.validationContext === 'params') throw request.validationError
      if (request.bodyMistake) throw request.bodyMistake
      if (request.validationError) throw request.validationError
      const { schema } = request.routeOptions
      const isAsked = !schema || schema.hide || schema.body
      const refusal = isAsked || request.body === undefined ? undefined : refusalOfAnything(request.body, '')
      if (refusal) throw refusal
    }
    app.addHook('onRoute', (route) => {
      route.attachValidation = true
      route.preHandler = [route.preHandler ?? []].flat().concat(refuseBadInput)
    })
  },
  { name: 'json-body', dependencies: ['problems', 'validation'] },
)

const isMediaType = (type = 'any/type') => /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/.test(type)

/** Keeps a mistake for after the guards instead of throwing it. */
export async function keepingMistakes(
  request: FastifyRequest,
  work: () => Promise<unknown>,
): Promise<unknown> {
  // Left in the socket, which throws it away behind the answer: nothing in it changes what that is.
  if (request.isRefused || request.is404) return undefined
  try {
    return await work()
  } catch (error) {
    // Anything else comes from the socket: whoever was sending went away. That is no mistake of ours.
    request.bodyMistake = error instanceof AppError ? error : invalidJson('it was cut off.')
    return undefined
  }
}

/** Reads at most the route's limit, and at most as many values as the scan lets pass; what is more is left in the socket. */
export async function read(request: FastifyRequest, payload: Readable, scan?: JsonScan): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit)
  return request.server.bodyIntake.receive(payload, limit, (chunk) =>
    scan && !scan.push(chunk) ? tooManyValues(scan) : undefined,
  )
}

function tooManyValues({ member, values }: JsonScan): AppError {
  const path = member === undefined ? '' : `/${escapePointer(member)}`
  return validationFailed([
    { path, code: 'too_many', message: `must hold at most ${grouped(values - 1)} values` },
  ])
}

function parse(body: Buffer): unknown {
  if (body.length === 0) return {}
  if (!isUtf8(body)) throw invalidJson('it is not UTF-8.')
  try {
    return secureJson.parse(body.toString(), { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw invalidJson((error as Error).message.slice(0, 200))
  }
}
