import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SenderGuards } from '../guards/delivery-sender.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import type { RetryBuffer } from '../lib/retry-buffer.ts'
import { eventBody, sourceBytesIn } from '../plugins/event-body.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { SourceDelivery, SourceIgnored, SourcePending, SourceReceipt } from '../schemas/source-delivery.ts'
import { outcomeOf, type StoredReceipt } from '../services/deliveries/receiver.ts'
import type { Services } from '../services/index.ts'
import { failureOutcome } from '../services/metrics/index.ts'
import { refusalOf, type SourceOutcome } from '../services/recorder.ts'
import type { SourceTarget } from '../services/sources/receiving.ts'

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

interface SourceReceiverOptions extends Pick<Services, 'receivers' | 'metrics' | 'pipes'> {
  senders: Pick<SenderGuards<SourceTarget>, 'targetOf' | 'isUnverified' | 'isVerified'>
  /** Run before the body is read. */
  earlyGuards: Guard[]
  /** Run once it is, before it is parsed. */
  guards: Guard[]
  buffer: RetryBuffer
  /** For bodies whose signature is not verified yet. */
  unverifiedIntake: BodyIntake
}

/** The receiver of the sources. */
export const sourceDeliveriesRoutes: FastifyPluginAsyncTypebox<SourceReceiverOptions> = async (
  app,
  { receivers, metrics, pipes, senders, earlyGuards, guards, buffer, unverifiedIntake },
) => {
  await app.register(eventBody, {
    bodyIntakeOf: (request) => (senders.isUnverified(request) ? unverifiedIntake : undefined),
  })
  // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
  app.addHook('onError', async (request, _reply, error) => {
    const failure = app.asAppError(error)
    metrics.sourceDelivered(failureOutcome(failure))
    const { sourceId } = request.params as { sourceId: string }
    pipes.failed({ kind: 'source', id: sourceId.toLowerCase() }, refusalOf(failure))
    if (senders.isVerified(request)) logFailure(request, failure.code)
  })

  app.post(
    '/sources/:sourceId',
    {
      onRequest: earlyGuards,
      preHandler: guards,
      config: { receiver: 'sourceSecret' },
      schema: {
        tags: ['Sources'],
        operationId: 'receiveSourceDelivery',
        summary: 'Receive a delivery of a source',
        description:
          'The `url` of a source. Creates a task, or updates the one with the same external ID, as the template of the source says. The delivery is stored in the same transaction. A repeat does nothing: a delivery with the same `webhook-id` or `Idempotency-Key`; without either, an item that equals the latest one with its external ID, or without an external ID an equal one within ten seconds. With `hmac_sha256_hex`, these headers are not signed and are ignored.',
        params: Type.Object(
          { sourceId: Type.String({ format: 'uuid', description: 'The ID of the source.' }) },
          { description: 'Path parameters.' },
        ),
        body: ref(SourceDelivery),
        response: {
          200: responses(Type.Union([ref(SourceReceipt), ref(SourceIgnored)]), {
            description: 'Tasks were updated, the delivery was received before, or it makes no task.',
          }),
          201: responses(ref(SourceReceipt), {
            description: 'At least one task was created.',
          }),
          202: responses(ref(SourcePending), {
            description:
              'The delivery is stored, and processed later: its source has used up its share of time, or has other pending deliveries.',
          }),
        },
      },
    },
    async (request, reply) => {
      const source = senders.targetOf(request)
      const sent = { bytes: sourceBytesIn(request, source.mapping), headers: request.headers }
      const store = await receivers[source.mapping](source, sent)
      const receipt = await buffer(reply.elapsedTime, store)
      const outcome = outcomeOf(receipt)
      metrics.sourceDelivered(outcome)
      pipes.succeeded({ kind: 'source', id: source.id })
      if (!receipt.accepted && receipt.reason === 'project_archived') logFailure(request, receipt.reason)
      return reply.status(statusOf(receipt, outcome)).send(receipt)
    },
  )

  /** Senders rarely tell anybody that their deliveries fail. */
  function logFailure(request: FastifyRequest, code: string): void {
    const { id: sourceId, projectId } = senders.targetOf(request)
    request.log.warn({ code, projectId, sourceId }, 'delivery of a source failed')
  }
}

/** A repeat of a pending delivery is pending, too. */
const statusOf = (receipt: StoredReceipt, outcome: SourceOutcome) => {
  if ('outcome' in receipt) return 202
  return outcome === 'created' ? 201 : 200
}
