import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { etagOfContent } from '../lib/etag.ts'
import { Context, ContextQuery } from '../schemas/context.ts'
import { IfNoneMatch } from '../schemas/headers.ts'
import { ref } from '../schemas/parts.ts'
import { ContentETag, emptyResponse, responses } from '../schemas/responses.ts'
import { contextOperations } from '../services/context.ts'
import type { Services } from '../services/index.ts'

/** What an assistant should know, for hooks that run when a session begins. */
export const contextRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'context'>> = async (
  app,
  { context },
) => {
  const json = responses(ref(Context), 'The context; with `format=markdown` the text a model reads.', {
    etag: ContentETag,
  })

  app.get(
    '',
    {
      config: { operation: contextOperations.read, mistakes: ['project_not_found'] },
      schema: {
        tags: ['Rules'],
        operationId: 'getContext',
        summary: 'Read the context of a session',
        description:
          'The active rules that apply, where the key stands, lists and the latest tasks: what the tool `get_context` answers. `format=markdown` serves it to one line of curl. Lists and tasks need `tasks:read` as well, else they are left out. The ETag stands for all of it but the time: with `If-None-Match` the response is 304 while nothing else changed.',
        querystring: ContextQuery,
        headers: IfNoneMatch,
        response: {
          200: {
            ...json,
            content: {
              ...json.content,
              'text/markdown': { schema: Type.String({ description: 'The rules first, then the rest.' }) },
            },
          },
          304: emptyResponse('What you have is what is here.'),
        },
      },
    },
    async (request, reply) => {
      const { format, ...wanted } = request.query
      const { context: answer, markdown } = await context.read(request.caller, wanted)
      // The time is another one each time, and nobody asks for it alone.
      const { serverTime, ...lasting } = answer
      const etag = etagOfContent([format ?? 'json', lasting], { isWeak: true })
      if (reply.isNotModified(etag)) return reply.status(304).send(null)
      if (format !== 'markdown') return answer
      reply.type('text/markdown; charset=utf-8')
      return asText(markdown)
    },
  )
}

/** The provider types an answer by its first content type; a text goes out as it is. */
const asText = (markdown: string) => markdown as unknown as Context
