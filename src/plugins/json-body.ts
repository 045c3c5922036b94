import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type LargeBody, largeBodyOf, refusalFrom } from '../domain/bulk-reading.ts'
import { parseJson } from '../domain/json-text.ts'
import { escapePointer, grouped } from '../domain/validation/field-errors.ts'
import type { WorkerJobs } from '../domain/worker-jobs.ts'
import {
  AppError,
  bodyTooLarge,
  invalidJson,
  unsupportedEncoding,
  unsupportedMediaType,
  validationFailed,
  workerLost,
} from '../errors/index.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import type { ByteBudget } from '../lib/byte-budget.ts'
import { type JsonScan, jsonScan } from '../lib/json-scan.ts'
import { type RequestResources, requestResources } from '../lib/request-resources.ts'
import type { SideThread } from '../lib/side-thread.ts'
import { StrictObject } from '../schemas/parts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The error of reading the body; thrown after the guards. */
    bodyError: AppError | null
    /** The error of a guard that needs only headers: the body is neither read nor validated. */
    earlyRefusal: Error | null
    /** Memory and budget of the body, until the response is produced. */
    resources: RequestResources | null
    /** The size of the body. */
    bodyBytes: number
    /** A batch that was parsed and checked in the side thread; `body` has null in place of its items. */
    largeBody: LargeBody | null
  }
  interface FastifyInstance {
    bodyIntake: BodyIntake
    /** Parses large bodies, which would block the event loop for too long. */
    worker: SideThread<WorkerJobs>
    /** For batches of tasks in progress. */
    bulkWork: ByteBudget
  }
  interface FastifyContextConfig {
    /** Maximum number of JSON values in the body; defaults to `MAX_VALUES`. */
    maxValues?: number
    /** The body is a batch of tasks; a large one is parsed in the side thread. */
    isBulk?: boolean
  }
}

interface JsonBodyOptions {
  /** Receives all bodies of the process. */
  bodyIntake: BodyIntake
  worker: SideThread<WorkerJobs>
  /** For large batches, from their last byte until the response is produced; one at a time for each key. */
  bulkWork: ByteBudget
}

/** Larger batches need room in `bulkWork`. */
export const ADMITTED_BYTES = 1024 * 1024

/** Larger batches are parsed and checked in the side thread. */
const LARGE_BYTES = 4 * 1024 * 1024
const LARGE_VALUES = 50_000

/** Ten times as many as in any valid body of this size; parsing them takes a few milliseconds. */
const MAX_VALUES = 110_000

/** Their bodies are ignored, however encoded. */
const BODILESS = ['GET', 'HEAD']

/**
 * Guards come before errors of the body, but Fastify parses and validates before preHandler hooks. So parsing stores
 * its error, validation is attached, and `refuseBadInput` throws either as the last preHandler of every route.
 */
export const jsonBody = fp<JsonBodyOptions>(
  async function jsonBody(app: FastifyInstance, { bodyIntake, worker, bulkWork }) {
    app.decorate('bodyIntake', bodyIntake)
    app.decorate('worker', worker)
    app.decorate('bulkWork', bulkWork)
    app.decorateRequest('bodyError', null)
    app.decorateRequest('earlyRefusal', null)
    app.decorateRequest('resources', null)
    app.decorateRequest('bodyBytes', 0)
    app.decorateRequest('largeBody', null)
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
        const { maxValues = MAX_VALUES, isBulk } = request.routeOptions.config
        const scan = jsonScan({ maxValues })
        const body = await readBody({ request, payload, scan })
        if (isBulk && body.length > ADMITTED_BYTES) {
          request.resources?.add(await bulkWork.take(body.length, holderOf(request)))
        }
        const isLarge = body.length > LARGE_BYTES || scan.values > LARGE_VALUES
        return isBulk && isLarge ? readInSideThread(request, body) : parse(body)
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

interface Reading {
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
}: Reading): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit)
  const { bytes, release } = await bodyIntake.receive(payload, {
    maxBytes: limit,
    holder: holderOf(request),
    refusalOf: (chunk) => (scan && !scan.push(chunk) ? tooManyValues(scan) : undefined),
  })
  request.resources?.add(release)
  request.bodyBytes = bytes.length
  return bytes
}

/** Whose share of the memory a request counts towards: its key's; without a key, its route's. */
export const holderOf = ({ caller, routeOptions }: FastifyRequest) => caller?.keyId ?? `${routeOptions.url}`

function tooManyValues({ member, values }: JsonScan): AppError {
  const path = member === undefined ? '' : `/${escapePointer(member)}`
  return validationFailed([
    { path, code: 'too_many', message: `must contain at most ${grouped(values - 1)} values` },
  ])
}

const parse = (body: Buffer): unknown => (body.length === 0 ? {} : parseJson(body))

/** Parses a large batch in the side thread. Returns a body of the same shape, with null in place of its items. */
async function readInSideThread(request: FastifyRequest, body: Buffer): Promise<unknown> {
  const { worker } = request.server
  const reading = await worker
    .run('readBulk', { input: body, transfer: [body.buffer as ArrayBuffer] })
    .catch((error) => {
      throw error instanceof AppError ? error : workerLost(error)
    })
  if ('refusal' in reading) throw refusalFrom(reading.refusal)
  request.largeBody = largeBodyOf(reading)
  return { listId: reading.listId, tasks: reading.items.map(() => null) }
}
