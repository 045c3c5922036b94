import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemNotFound } from '../errors/index.ts'
import { PROBLEMS } from '../plugins/problems/types.ts'
import { StrictObject } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'

/** Explanations of error codes; the `type` of a problem document links here. */
export const problemsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/:code',
    {
      config: { errors: ['not_found'] },
      schema: {
        tags: ['Service'],
        operationId: 'explainProblem',
        summary: 'Retrieve a problem type',
        description: 'Explains an error code. The `type` of each error links here.',
        params: StrictObject(
          {
            code: Type.String({
              maxLength: 100,
              description: 'The `code` of an error.',
              examples: ['validation_failed'],
            }),
          },
          { description: 'Path parameters.' },
        ),
        response: { 200: responses(ProblemType, { description: 'The explanation.' }) },
      },
    },
    async (request) => {
      const { code } = request.params
      if (!Object.hasOwn(PROBLEMS, code)) throw problemNotFound(code)
      const [status, title, explanation] = PROBLEMS[code as keyof typeof PROBLEMS]
      return { code, status, title, explanation }
    },
  )
}

const ProblemType = Type.Object(
  {
    code: Type.String({ description: 'The error code.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    title: Type.String({ description: 'A short summary of the error.' }),
    explanation: Type.String({ description: 'What the error means and how to fix it.' }),
  },
  { description: 'A problem type.' },
)
