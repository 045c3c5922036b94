import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { validationFailed } from '../errors/index.ts'
import type { SenderGuards } from '../guards/delivery-sender.ts'
import type { BodyIntake } from '../lib/body-intake.ts'
import type { RetryBuffer } from '../lib/retry-buffer.ts'
import { eventBody, pushIn } from '../plugins/event-body.ts'
import { PushDelivery, PushReceipt } from '../schemas/delivery.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import type { PushTarget } from '../services/push/index.ts'
import { refusalOf } from '../services/recorder.ts'

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

interface PushReceiverOptions extends Pick<Services, 'push' | 'metrics' | 'pipes'> {
  senders: Pick<SenderGuards<PushTarget>, 'targetOf'>
  /** Run before the body is read. */
  earlyGuards: Guard[]
  /** Run once it is, before it is parsed. */
  guards: Guard[]
  buffer: RetryBuffer
  /** For bodies whose signature is not verified yet. */
  bodyIntake: BodyIntake
}

/** Several times the largest delivery of an event that is accepted: its texts have up to 256 KiB. */
const DELIVERY_BYTES = 4 * 1024 * 1024

/** The push receiver of connected repositories. */
export const pushRoutes: FastifyPluginAsyncTypebox<PushReceiverOptions> = async (
  app,
  { push, metrics, pipes, senders, earlyGuards, guards, buffer, bodyIntake },
) => {
  await app.register(eventBody, { bodyIntakeOf: () => bodyIntake })
  // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
  app.addHook('onError', async (request, _reply, error) => {
    const failure = app.asAppError(error)
    const isOurs = ['unavailable', 'internal_error'].includes(failure.code)
    metrics.pushed(isOurs ? 'unavailable' : 'refused')
    const { connectionId } = request.params as { connectionId: string }
    pipes.failed({ kind: 'push', id: connectionId.toLowerCase() }, refusalOf(failure))
  })

  /** The code host sends other events, which can be larger, if its webhook is set to send everything. */
  async function ignoreLarge(request: FastifyRequest, reply: FastifyReply) {
    const isLarge = Number(request.headers['content-length']) > DELIVERY_BYTES
    if (!isLarge || push.accepts(nameIn(request, 'x-github-event'))) return
    metrics.pushed('dropped')
    return reply.status(202).send({ accepted: false, duplicate: false, reason: 'event_ignored' })
  }

  app.post(
    '/codehost/:connectionId',
    {
      onRequest: [...earlyGuards, ignoreLarge],
      preHandler: guards,
      bodyLimit: DELIVERY_BYTES,
      config: { receiver: 'codehostSignature' },
      schema: {
        tags: ['Code host'],
        operationId: 'receivePush',
        summary: 'Receive a delivery of the code host',
        description:
          'The URL for a webhook of the connected repository; `webhook.url` of the connection. The events `issues`, `pull_request`, `issue_comment`, `repository` and `ping` are accepted; others, whatever their size, and deliveries of another repository, are ignored. The delivery is stored before the response, and applied within seconds. Sending it again with the same `X-GitHub-Delivery` does nothing.',
        params: Type.Object(
          {
            connectionId: Type.String({ format: 'uuid', description: 'The ID of the connection.' }),
          },
          { description: 'Path parameters.' },
        ),
        headers: Type.Object({
          'x-hub-signature-256': Type.String({
            maxLength: 71,
            description: '`sha256=` and the HMAC-SHA256 of the body with the webhook secret, in hexadecimal.',
          }),
          'x-github-event': Type.String({ maxLength: 100, description: 'The name of the event.' }),
          'x-github-delivery': Type.String({ maxLength: 100, description: 'The ID of the delivery.' }),
        }),
        body: ref(PushDelivery),
        response: {
          202: responses(ref(PushReceipt), { description: 'The delivery is stored, or ignored.' }),
        },
      },
    },
    async (request, reply) => {
      const target = senders.targetOf(request)
      const names = {
        event: nameIn(request, 'x-github-event'),
        deliveryId: nameIn(request, 'x-github-delivery'),
      }
      const delivery = { ...names, ...pushIn(request) }
      const receipt = await buffer(reply.elapsedTime, () => push.receive(target, delivery))
      push.wake()
      return reply.status(202).send(receipt)
    },
  )
}

function nameIn({ headers }: FastifyRequest, header: string): string {
  const value = [headers[header]].flat().join()
  if (/^[\w.:-]{1,100}$/.test(value)) return value
  const [code, message] =
    value === ''
      ? (['required', 'is required'] as const)
      : (['wrong_format', 'must be 1 to 100 letters, digits, hyphens, dots, colons or underscores'] as const)
  throw validationFailed([{ path: `header.${header}`, code, message }])
}
