import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { InboxEvent, InboxEventPage, InboxEventQuery } from '../schemas/feedback.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { feedbackInboxOperations } from '../services/feedback/inbox.ts'
import type { Services } from '../services/index.ts'

const tags = ['Feedback']

/** The inbox: all deliveries to the receiver. */
export const feedbackEventsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'feedbackInbox'>> = async (
  app,
  { feedbackInbox },
) => {
  app.get(
    '',
    {
      config: { operation: feedbackInboxOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listFeedbackEvents',
        summary: 'List feedback events',
        description:
          'Returns a page of the feedback inbox, newest first. Payloads are kept for 30 days. Ignored events are kept for 7 days, without their payload.',
        querystring: InboxEventQuery,
        response: { 200: responses(InboxEventPage, { description: 'A page of feedback events.' }) },
      },
    },
    (request) => feedbackInbox.list(request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: feedbackInboxOperations.get, errors: ['event_not_found'] },
      schema: {
        tags,
        operationId: 'getFeedbackEvent',
        summary: 'Retrieve a feedback event',
        description: 'Returns a feedback event.',
        params: IdPath('event'),
        response: { 200: responses(ref(InboxEvent), { description: 'The feedback event.' }) },
      },
    },
    (request) => feedbackInbox.get(request.params.id),
  )

  app.post(
    '/:id/replay',
    {
      config: {
        operation: feedbackInboxOperations.replay,
        errors: ['event_not_found', 'event_not_replayable', 'project_archived', 'merge_conflict'],
      },
      schema: {
        tags,
        operationId: 'replayFeedbackEvent',
        summary: 'Replay a feedback event',
        description:
          'Processes a rejected event again; if it is still invalid, the event shows why. An accepted event keeps its task, which moves if the current routing leads to another project. A replay never creates a second task.',
        params: IdPath('event'),
        response: { 200: responses(ref(InboxEvent), { description: 'The feedback event.' }) },
      },
    },
    (request) => feedbackInbox.replay(request.caller, request.params.id),
  )
}
