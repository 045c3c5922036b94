import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RetryBuffer } from '../lib/retry-buffer.ts'
import { eventBody, feedbackBytesIn } from '../plugins/event-body.ts'
import { FeedbackIgnored, FeedbackReceipt, WebhookEvent } from '../schemas/feedback.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { outcomeOf, type StoredReceipt } from '../services/deliveries/receiver.ts'
import type { Services } from '../services/index.ts'
import { failureOutcome } from '../services/metrics/index.ts'
import { FEEDBACK_PIPE, refusalOf } from '../services/recorder.ts'

type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

interface ReceiverOptions extends Pick<Services, 'receivers' | 'metrics' | 'pipes'> {
  /** Run before the body is read. */
  guards: Guard[]
  buffer: RetryBuffer
}

/** The feedback receiver. */
export const receiverRoutes: FastifyPluginAsyncTypebox<ReceiverOptions> = async (
  app,
  { receivers, guards, buffer, metrics, pipes },
) => {
  await app.register(eventBody)
  // biome-ignore lint/complexity/useMaxParams: Fastify's signature.
  app.addHook('onError', async (_request, _reply, error) => {
    const failure = app.asAppError(error)
    metrics.delivered(failureOutcome(failure))
    pipes.failed(FEEDBACK_PIPE, refusalOf(failure))
  })

  app.post(
    '/webhook',
    {
      onRequest: guards,
      config: { receiver: 'webhookSecret' },
      schema: {
        tags: ['Feedback'],
        operationId: 'receiveFeedback',
        summary: 'Receive feedback',
        description:
          'Creates a task from a `feedback_submitted` event, in the flat format or the analytics platform’s default format. Events with another name are ignored. Sending the same event again creates no second task. Rejected events are stored; fix the event and send it again with the same `uuid`.',
        body: ref(WebhookEvent),
        response: {
          200: responses(Type.Union([ref(FeedbackReceipt), ref(FeedbackIgnored)]), {
            description: 'The event was received before, or is ignored.',
          }),
          201: responses(ref(FeedbackReceipt), {
            description: 'The task was created.',
          }),
        },
      },
    },
    async (request, reply) => {
      const { headers } = request
      const store = await receivers.feedback({ id: null }, { bytes: feedbackBytesIn(request), headers })
      const receipt = await buffer(reply.elapsedTime, store)
      const outcome = outcomeOf(receipt)
      metrics.delivered(outcome)
      pipes.succeeded(FEEDBACK_PIPE)
      return reply.status(outcome === 'created' ? 201 : 200).send(toFeedbackReceipt(receipt))
    },
  )
}

/** Casts: feedback is routed, and never pending; what is ignored are other events. */
function toFeedbackReceipt(receipt: StoredReceipt): FeedbackReceipt | FeedbackIgnored {
  if (!('tasks' in receipt)) return receipt as FeedbackIgnored
  const { tasks: _, ...feedback } = receipt
  return feedback as FeedbackReceipt
}
