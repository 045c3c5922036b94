import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Me } from '../schemas/caller.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { accessOperations } from '../services/access.ts'
import type { Services } from '../services/index.ts'

/** The authenticated caller. */
export const meRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'access'>> = async (app, { access }) => {
  app.get(
    '',
    {
      config: { operation: accessOperations.describe },
      schema: {
        tags: ['Access'],
        operationId: 'getMe',
        summary: 'Retrieve the current caller',
        description: 'Returns the key or session of the request: its name, scopes and project.',
        response: { 200: responses(ref(Me), { description: 'The caller.' }) },
      },
    },
    async (request) => access.describe(request.caller),
  )
}
