import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdPath, ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import {
  SourceEvent,
  SourceEventPage,
  SourceEventPath,
  SourceEventQuery,
  SourcePayloadTest,
  SourceTest,
  SourceTestResult,
} from '../schemas/source-delivery.ts'
import type { Services } from '../services/index.ts'
import { sourceInboxOperations } from '../services/sources/inbox.ts'
import { sourceTestOperations } from '../services/sources/testing.ts'

const tags = ['Sources']
const result = { 200: responses(ref(SourceTestResult), { description: 'What the payload would make.' }) }

/** Tests of sources, and their inbox. */
export const sourceEventsRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'sourceInbox' | 'sourceTests'>
> = async (app, { sourceInbox, sourceTests }) => {
  app.post(
    '/test',
    {
      config: { operation: sourceTestOperations.testGiven },
      schema: {
        tags,
        operationId: 'testNewSource',
        summary: 'Test a new source',
        description: 'Returns the tasks that a payload would make with these templates. Nothing is created.',
        body: ref(SourceTest),
        response: result,
      },
    },
    (request) => sourceTests.testGiven(request.caller, request.body),
  )

  app.post(
    '/:id/test',
    {
      config: {
        operation: sourceTestOperations.test,
        errors: ['source_not_found', 'event_not_found', 'event_not_replayable'],
      },
      schema: {
        tags,
        operationId: 'testSource',
        summary: 'Test a source',
        description:
          'Returns the tasks that a payload, or that of an event, would make or update. Nothing is changed.',
        params: IdPath('source'),
        body: ref(SourcePayloadTest),
        response: result,
      },
    },
    (request) => sourceTests.test(request.caller, { ...request.params, ...request.body }),
  )

  app.get(
    '/:id/events',
    {
      config: { operation: sourceInboxOperations.list, errors: ['source_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listSourceEvents',
        summary: 'List deliveries of a source',
        description:
          'Returns a page of the deliveries of a source, newest first. Payloads are kept for 30 days, and filtered deliveries for 7.',
        params: IdPath('source'),
        querystring: SourceEventQuery,
        response: { 200: responses(SourceEventPage, { description: 'A page of deliveries.' }) },
      },
    },
    (request) => sourceInbox.list(request.caller, { ...request.params, query: request.query }),
  )

  app.post(
    '/:id/events/:eventId/replay',
    {
      config: {
        operation: sourceInboxOperations.replay,
        errors: ['source_not_found', 'event_not_found', 'event_not_replayable', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'replaySourceEvent',
        summary: 'Replay a delivery of a source',
        description:
          'Processes a delivery again with the current templates. A rejected or filtered one can now make tasks. An accepted one keeps its tasks, which are updated. A replay never creates a second task. If it makes an item `open`, it reopens a task that is done: test the delivery first, with its `eventId`, and see `reopens`.',
        params: SourceEventPath,
        response: { 200: responses(ref(SourceEvent), { description: 'The delivery.' }) },
      },
    },
    (request) => sourceInbox.replay(request.caller, request.params),
  )
}
