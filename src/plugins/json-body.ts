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
  unsupportedMediaType,
  validationFailed,
  workerLost,
} from '../errors/index.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import type { ByteBudget } from '../lib/byte-budget.ts'
import { type JsonScan, jsonScan } from '../lib/json-scan.ts'
import type { SideThread } from '../lib/side-thread.ts'
import { type WorkHold, workHold } from '../lib/work-hold.ts'
import { StrictObject } from '../schemas/parts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the body could not be read; thrown once the guards have let the caller in. */
    bodyError: AppError | null
    /** Why a guard refused the caller by headers alone: the body is neither read nor checked. */
    earlyRefusal: Error | null
    /** What its body holds, from its last byte until the response is produced. */
    workHold: WorkHold | null
    /** How many bytes its body had. */
    bodyBytes: number
    /** A batch that was read and checked beside the event loop; `body` has its shape alone. */
    largeBody: LargeBody | null
  }
  interface FastifyInstance {
    bodyIntake: BodyIntake
    /** Reads what would hold up everybody else for too long. */
    worker: SideThread<WorkerJobs>
    /** For batches of tasks that are worked on. */
    bulkWork: ByteBudget
  }
  interface FastifyContextConfig {
    /** How many values the body may hold, where it is not `MAX_VALUES`. */
    maxValues?: number
    /** It takes a batch of tasks, which may be large: then it is read beside the event loop. */
    isBulk?: boolean
  }
}

interface JsonBodyOptions {
  /** Receives all bodies of the process. */
  bodyIntake: BodyIntake
  worker: SideThread<WorkerJobs>
  /** For large batches, from their last byte until the response is produced; of each key one at a time. */
  bulkWork: ByteBudget
}

/** From here on a batch is worked on only when there is room for it. */
export const ADMITTED_BYTES = 1024 * 1024

/** From here on a body is parsed and checked beside the event loop. */
const LARGE_BYTES = 4 * 1024 * 1024
const LARGE_VALUES = 50_000

/** Ten times what any valid body of this size holds, and what is parsed in a few milliseconds. */
const MAX_VALUES = 110_000

/**
 * A caller who may not come in learns nothing of the body. Fastify parses and validates before preHandler
 * hooks, so parsing keeps its error, validation is attached, and `refuseBadInput` throws either as the last
 * preHandler of every route, after the guards.
 */
export const jsonBody = fp<JsonBodyOptions>(
  async function jsonBody(app: FastifyInstance, { bodyIntake, worker, bulkWork }) {
    app.decorate('bodyIntake', bodyIntake)
    app.decorate('worker', worker)
    app.decorate('bulkWork', bulkWork)
    app.decorateRequest('bodyError', null)
    app.decorateRequest('earlyRefusal', null)
    app.decorateRequest('workHold', null)
    app.decorateRequest('bodyBytes', 0)
    app.decorateRequest('largeBody', null)
    app.addHook('preParsing', async (request, reply) => {
      if (!request.earlyRefusal) request.workHold = workHold(reply.raw)
    })
    app.addHook('onSend', async (request) => request.workHold?.release())
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) =>
      keepingError(request, async () => {
        const { maxValues = MAX_VALUES, isBulk } = request.routeOptions.config
        const scan = jsonScan({ maxValues })
        const body = await read(request, payload, scan)
        if (isBulk && body.length > ADMITTED_BYTES) {
          request.workHold?.add(await bulkWork.take(body.length, holderOf(request)))
        }
        const isLarge = body.length > LARGE_BYTES || scan.values > LARGE_VALUES
        return isBulk && isLarge ? readBeside(request, body) : parse(body)
      }),
    )
    app.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      keepingError(request, async () => {
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

    const refusalOfAnything = app.compileCheck(StrictObject({}, { description: 'No input.' }))
    async function refuseBadInput(request: FastifyRequest) {
      // A limit may let in by now who was over it: there is no body to go on with.
      if (request.earlyRefusal) throw request.earlyRefusal
      // Path first, then body, then query.
      if (request.validationError?.validationContext === 'params') throw request.validationError
      if (request.bodyError) throw request.bodyError
      if (request.validationError) throw request.validationError
      const { schema } = request.routeOptions
      const isAsked = !schema || schema.hide || schema.body
      const refusal = isAsked || request.body === undefined ? undefined : refusalOfAnything(request.body, '')
      if (refusal) throw refusal
    }
    app.addHook('onRoute', (route) => {
      route.attachValidation = true
      const { handler } = route
      route.handler = function (request, reply) {
        const work = () => handler.call(this, request, reply)
        return request.workHold?.during(work) ?? work()
      }
      route.preHandler = [route.preHandler ?? []].flat().concat(refuseBadInput)
    })
  },
  { name: 'json-body', dependencies: ['problems', 'validation'] },
)

const isMediaType = (type = 'any/type') => /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/.test(type)

/** Keeps an error until after the guards instead of throwing it. */
export async function keepingError(request: FastifyRequest, work: () => Promise<unknown>): Promise<unknown> {
  // Left in the socket, which throws it away behind the answer: nothing in it changes what that is.
  if (request.earlyRefusal || request.is404) return undefined
  try {
    return await (request.workHold?.during(work) ?? work())
  } catch (error) {
    // Anything else comes from the socket: the client disconnected.
    request.bodyError = error instanceof AppError ? error : invalidJson('it is incomplete.')
    return undefined
  }
}

/** Reads at most the route's limit, and at most as many values as the scan lets pass; what is more is left in the socket. */
export async function read(request: FastifyRequest, payload: Readable, scan?: JsonScan): Promise<Buffer> {
  const limit = request.routeOptions.bodyLimit
  if (Number(request.headers['content-length'] ?? 0) > limit) throw bodyTooLarge(limit)
  const { bytes, release } = await request.server.bodyIntake.receive(payload, {
    maxBytes: limit,
    holder: holderOf(request),
    refusalOf: (chunk) => (scan && !scan.push(chunk) ? tooManyValues(scan) : undefined),
  })
  request.workHold?.add(release)
  request.bodyBytes = bytes.length
  return bytes
}

/** Each key for itself; where there is none, all who come in at one door. */
const holderOf = ({ caller, routeOptions }: FastifyRequest) => caller?.keyId ?? `${routeOptions.url}`

function tooManyValues({ member, values }: JsonScan): AppError {
  const path = member === undefined ? '' : `/${escapePointer(member)}`
  return validationFailed([
    { path, code: 'too_many', message: `must contain at most ${grouped(values - 1)} values` },
  ])
}

const parse = (body: Buffer): unknown => (body.length === 0 ? {} : parseJson(body))

/** Has a large body read in the worker. In its place comes one of the same shape, whose items are still to be made. */
async function readBeside(request: FastifyRequest, body: Buffer): Promise<unknown> {
  const { worker } = request.server
  const reading = await worker.run('readBulk', body, [body.buffer as ArrayBuffer]).catch((error) => {
    throw error instanceof AppError ? error : workerLost(error)
  })
  if ('refusal' in reading) throw refusalFrom(reading.refusal)
  request.largeBody = largeBodyOf(reading)
  return { listId: reading.listId, tasks: reading.items.map(() => null) }
}
