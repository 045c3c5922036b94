import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { InboxEvent, InboxEventPage, InboxEventQuery } from '../schemas/feedback.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { feedbackInboxOperations } from '../services/feedback/inbox.ts'
import type { Services } from '../services/index.ts'

const tags = ['Feedback']

/** The inbox: what the receiver was given. */
export const feedbackEventsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'feedbackInbox'>> = async (
  app,
  { feedbackInbox },
) => {
  app.get(
    '',
    {
      config: { operation: feedbackInboxOperations.list, mistakes: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listFeedbackEvents',
        summary: 'List what the receiver was given',
        description:
          'One page of the inbox, newest first. What was sent is kept for 30 days; of events of other names nothing is, and their entries go after 7.',
        querystring: InboxEventQuery,
        response: { 200: responses(InboxEventPage, 'A page of the inbox.') },
      },
    },
    async (request, reply) => reply.sendPage(await feedbackInbox.list(request.query)),
  )

  app.get(
    '/:id',
    {
      config: { operation: feedbackInboxOperations.get, mistakes: ['event_not_found'] },
      schema: {
        tags,
        operationId: 'getFeedbackEvent',
        summary: 'Read one entry of the inbox',
        description: 'Answers one entry.',
        params: IdPath('entry'),
        response: { 200: responses(ref(InboxEvent), 'The entry.') },
      },
    },
    (request) => feedbackInbox.get(request.params.id),
  )

  app.post(
    '/:id/replay',
    {
      config: {
        operation: feedbackInboxOperations.replay,
        mistakes: ['event_not_found', 'event_not_replayable', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'replayFeedbackEvent',
        summary: 'Try an event again',
        description:
          'A rejected event is tried as if it came now; when it is still wrong, its entry says why. One that has its task keeps it, and the task is moved when today’s routing leads to another project. Never a second task.',
        params: IdPath('entry'),
        response: { 200: responses(ref(InboxEvent), 'The entry as it is now.') },
      },
    },
    (request) => feedbackInbox.replay(request.caller, request.params.id),
  )
}
