import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import secureJson from 'secure-json-parse'
import { escapePointer, grouped } from '../domain/validation/field-errors.ts'
import {
  AppError,
  bodyTooLarge,
  invalidJson,
  unsupportedEncoding,
  unsupportedMediaType,
  validationFailed,
} from '../errors/index.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import { type JsonScan, jsonScan } from '../lib/json-scan.ts'
import { type RequestResources, requestResources } from '../lib/request-resources.ts'
import { StrictObject } from '../schemas/parts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error of reading the body; thrown after the guards. */
    bodyError: AppError | null
    /** The error of a guard that needs only headers: the body is neither read nor validated. */
    earlyRefusal: Error | null
    /** Memory of the body, until the response is produced. */
    resources: RequestResources | null
    /** The size of the body. */
    bodyBytes: number
  }
  interface FastifyInstance {
    bodyIntake: BodyIntake
  }
  interface FastifyContextConfig {
    /** Maximum number of JSON values in the body; defaults to `MAX_VALUES`. */
    maxValues?: number
    /** What a client can do whose body is larger than `bodyLimit`. */
    tooLargeAdvice?: string
  }
}

interface JsonBodyOptions {
  /** Receives all bodies of the process. */
  bodyIntake: BodyIntake
}

/** Twice as many as the metadata of a task can have, or as 500 alerts have; parsing them takes up to 20 ms. */
const MAX_VALUES = 20_000

/** Of a body, which is ten levels for metadata, and more for what receivers take: JSON.stringify is recursive. */
const MAX_DEPTH = 1_000

/** Their bodies are ignored, however encoded. */
const BODILESS = ['GET', 'HEAD']

/**
 * Guards come before errors of the body, but Fastify parses and validates before preHandler hooks. So parsing stores
 * its error, validation is attached, and `refuseBadInput` throws either as the last preHandler of every route.
 */
export const jsonBody = fp<JsonBodyOptions>(
  async function jsonBody(app: FastifyInstance, { bodyIntake }) {
    app.decorate('bodyIntake', bodyIntake)
    app.decorateRequest('bodyError', null)
    app.decorateRequest('earlyRefusal', null)
    app.decorateRequest('resources', null)
    app.decorateRequest('bodyBytes', 0)
    app.addHook('preParsing', async (request, reply) => {
      if (request.earlyRefusal) return
      request.resources = requestResources(reply.raw)
      const encoding = request.headers['content-encoding'] ?? ''
      if (BODILESS.includes(request.method) || isIdentity(encoding)) return
      request.bodyError = unsupportedEncoding(encoding)
      reply.header('accept-encoding', 'identity')
    })
    app.addHook('onSend', async (request) => request.resources?.release())
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
      keepingError(request, async () => {
        const { maxValues = MAX_VALUES } = request.routeOptions.config
        const body = await readBody({ request, payload, scan: jsonScan({ maxValues, maxDepth: MAX_DEPTH }) })
        return body.length === 0 ? {} : parseJson(body)
      }),
    )
    app.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      keepingError(request, async () => {
        const body = await readBody({ request, payload })
        if (body.length > 0) throw unsupportedMediaType(request.headers['content-type'])
        return {}
      }),
    )
    app.addHook('onRequest', async ({ raw: { headers } }) => {
      // Fastify rejects an invalid content type before any guard; as `application/octet-stream` it reaches our parser.
      if (!isMediaType(headers['content-type'])) headers['content-type'] = 'application/octet-stream'
    })
    app.addHook('preValidation', async (request) => {
      if (request.body === undefined && request.routeOptions.schema?.body) request.body = {}
    })

    const rejectAnyInput = app.compileCheck(StrictObject({}, { description: 'No input.' }))
    async function refuseBadInput(request: FastifyRequest) {
      // A limit may have recovered since, but the body was not read.
      if (request.earlyRefusal) throw request.earlyRefusal
      // Path first, then body, then query.
      if (request.validationError?.validationContext === 'params') throw request.validationError
      if (request.bodyError) throw request.bodyError
      if (request.validationError) throw request.validationError
      const { schema } = request.routeOptions
      const isBodyExpected = !schema || schema.hide || schema.body
      const refusal =
        isBodyExpected || request.body === undefined ? undefined : rejectAnyInput(request.body, '')
      if (refusal) throw refusal
    }
    app.addHook('onRoute', (route) => {
      route.attachValidation = true
      const { handler } = route
      route.handler = function (request, reply) {
        const work = () => handler.call(this, request, reply)
        return request.resources?.during(work) ?? work()
      }
      route.preHandler = [route.preHandler ?? []].flat().concat(refuseBadInput)
    })
  },
  { name: 'json-body', dependencies: ['problems', 'validation'] },
)

const isMediaType = (type = 'any/type') => /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/.test(type)

/** `identity` says that nothing is encoded, which some clients write. */
const isIdentity = (encodings: string) =>
  encodings.split(',').every((encoding) => ['', 'identity'].includes(encoding.trim().toLowerCase()))

/** Keeps an error until after the guards instead of throwing it. */
export async function keepingError(request: FastifyRequest, work: () => Promise<unknown>): Promise<unknown> {
  // Not read: Node discards the body after the response, which does not depend on it.
  if (request.earlyRefusal || request.bodyError || request.is404) return undefined
  try {
    return await (request.resources?.during(work) ?? work())
  } catch (error) {
    // Any other error comes from the socket: the client disconnected.
    request.bodyError = error instanceof AppError ? error : invalidJson('it is incomplete.')
    return undefined
  }
}

/** Rejects members that would change prototypes, such as `__proto__`. */
function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidJson('it is not UTF-8.')
  try {
    return secureJson.parse(bytes.toString(), { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw invalidJson((error as Error).message.slice(0, 200))
  }
}

interface BodyReading {
  request: FastifyRequest
  payload: Readable
  scan?: JsonScan
  bodyIntake?: BodyIntake | undefined
}

/** Reads the body, up to the route's limit of bytes and the scan's limit of values; the rest stays in the socket. */
export async function readBody({
  request,
  payload,
  scan,
  bodyIntake = request.server.bodyIntake,
}: BodyReading): Promise<Buffer> {
  const { bodyLimit, config } = request.routeOptions
  const tooLarge = () => bodyTooLarge(bodyLimit, config.tooLargeAdvice)
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) throw tooLarge()
  const { bytes, release } = await bodyIntake.receive(payload, {
    maxBytes: bodyLimit,
    tooLarge,
    holder: holderOf(request),
    refusalOf: (chunk) => (scan && !scan.push(chunk) ? tooMuch(scan) : undefined),
  })
  request.resources?.add(release)
  request.bodyBytes = bytes.length
  return bytes
}

/** Whose share of the memory a request counts towards: its key's; without a key, its route's. */
export const holderOf = ({ caller, routeOptions }: FastifyRequest) =>
  caller?.principal.id ?? `${routeOptions.url}`

/** Refuses JSON with more values or levels than any valid one has, before it is parsed. */
export function refuseTooMuch(json: Buffer, { maxValues = MAX_VALUES } = {}): void {
  const scan = jsonScan({ maxValues, maxDepth: MAX_DEPTH })
  if (!scan.push(json)) throw tooMuch(scan)
}

function tooMuch({ member, values, isTooDeep }: JsonScan): AppError {
  const path = member === undefined ? '' : `/${escapePointer(member)}`
  const [code, message] = isTooDeep
    ? (['too_deep', `must be at most ${grouped(MAX_DEPTH)} levels deep`] as const)
    : (['too_many', `must contain at most ${grouped(values - 1)} values`] as const)
  return validationFailed([{ path, code, message }])
}
