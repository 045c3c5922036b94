import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { problemNotFound } from '../errors/index.ts'
import { PROBLEMS } from '../plugins/problems/types.ts'
import { StrictObject } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'

/** What the `type` of a problem document points at. */
export const problemsRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/:code',
    {
      config: { mistakes: ['not_found'] },
      schema: {
        tags: ['Service'],
        operationId: 'explainProblem',
        summary: 'Explain a problem type',
        description: 'The address in the `type` of every error: a short explanation of what it means.',
        params: StrictObject(
          {
            code: Type.String({
              maxLength: 100,
              description: 'The `code` of a problem.',
              examples: ['validation_failed'],
            }),
          },
          { description: 'Path parameters.' },
        ),
        response: { 200: responses(ProblemType, 'What it means.') },
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
    code: Type.String({ description: 'The kind of problem.' }),
    status: Type.Integer({ description: 'The HTTP status it comes with.' }),
    title: Type.String({ description: 'The kind of problem, in words.' }),
    explanation: Type.String({ description: 'What it means and what to do.' }),
  },
  { description: 'A kind of problem.' },
)
