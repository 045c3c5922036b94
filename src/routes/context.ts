import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { answers } from '../schemas/answers.ts'
import { Context, ContextQuery } from '../schemas/context.ts'
import { ref } from '../schemas/parts.ts'
import type { Services } from '../services/index.ts'

/** What an assistant should know, for hooks that run when a session begins. */
export const contextRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'context'>> = async (
  app,
  { context },
) => {
  const json = answers(ref(Context), 'The context; with `format=markdown` the text a model reads.')

  app.get(
    '',
    {
      config: { scope: 'rules:read', mistakes: ['project_not_found'] },
      schema: {
        tags: ['Rules'],
        operationId: 'getContext',
        summary: 'Read the context of a session',
        description:
          'The active rules that apply, where the key stands, lists and the latest tasks: what the tool `get_context` answers. `format=markdown` serves it to one line of curl. Lists and tasks need `tasks:read` as well, else they are left out.',
        querystring: ContextQuery,
        response: {
          200: {
            ...json,
            content: {
              ...json.content,
              'text/markdown': { schema: Type.String({ description: 'The rules first, then the rest.' }) },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { format, ...wanted } = request.query
      const { context: answer, markdown } = await context.read(request.caller, wanted)
      if (format !== 'markdown') return answer
      reply.type('text/markdown; charset=utf-8')
      return asText(markdown)
    },
  )
}

/** The provider types an answer by its first content type; a text goes out as it is. */
const asText = (markdown: string) => markdown as unknown as Context
