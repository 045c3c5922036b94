import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdPath, ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { SourcePayloadTest, SourceTest, SourceTestResult } from '../schemas/source-delivery.ts'
import type { Services } from '../services/index.ts'
import { sourceTestOperations } from '../services/sources/testing.ts'

const tags = ['Sources']
const result = { 200: responses(ref(SourceTestResult), { description: 'What the payload would make.' }) }

/** Tests of sources. */
export const sourceTestsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'sourceTests'>> = async (
  app,
  { sourceTests },
) => {
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
        errors: ['source_not_found', 'delivery_not_found', 'delivery_not_replayable'],
      },
      schema: {
        tags,
        operationId: 'testSource',
        summary: 'Test a source',
        description:
          'Returns the tasks that a payload, or that of a delivery, would make or update. Nothing is changed.',
        params: IdPath('source'),
        body: ref(SourcePayloadTest),
        response: result,
      },
    },
    (request) => sourceTests.test(request.caller, { ...request.params, ...request.body }),
  )
}
