import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { etagOfContent } from '../lib/etag.ts'
import { without } from '../lib/without.ts'
import { Context, ContextQuery } from '../schemas/context.ts'
import { IfNoneMatch } from '../schemas/headers.ts'
import { ref } from '../schemas/parts.ts'
import { ContentETag, emptyResponse, responses } from '../schemas/responses.ts'
import { contextOperations } from '../services/context.ts'
import type { Services } from '../services/index.ts'

/** The session context, for hooks that run when a session of an assistant starts. */
export const contextRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'context'>> = async (
  app,
  { context },
) => {
  const json = responses(ref(Context), {
    description: 'The context: JSON, or Markdown with `format=markdown` or `format=agents-md`.',
    headers: { etag: ContentETag },
  })

  app.get(
    '',
    {
      config: { operation: contextOperations.read, errors: ['project_not_found'] },
      schema: {
        tags: ['Rules'],
        operationId: 'getContext',
        summary: 'Retrieve the session context',
        description:
          'Returns what an AI assistant needs when a session starts: the active rules, the project, the lists and the latest tasks, as the tool `get_context` does. Lists and tasks are omitted if the key lacks `tasks:read`. Invisible characters and those that change the direction of text are escaped, such as `\\u202e`. `format=markdown` returns text, for example for curl. The ETag covers everything except the time: with `If-None-Match`, the response is 304 if nothing else has changed. `format=agents-md` returns only the rules, which is a file for `AGENTS.md`: it changes only when a rule does.',
        querystring: ContextQuery,
        headers: IfNoneMatch,
        response: {
          200: {
            ...json,
            content: {
              ...json.content,
              'text/markdown': {
                schema: Type.String({
                  description:
                    'The context as Markdown, rules first; or, with `format=agents-md`, the rules.',
                }),
              },
            },
          },
          304: emptyResponse('Not modified.'),
        },
      },
    },
    async (request, reply) => {
      const { format, ...rest } = request.query
      if (format === 'agents-md') {
        const { identity, memoryBytes, markdown } = await context.agentsFile(request.caller, rest)
        if (reply.isNotModified(etagOfContent(identity))) return reply.status(304).send(null)
        reply.memoryBytes = memoryBytes
        return reply.type('text/markdown; charset=utf-8').sendText<Context>(markdown())
      }
      const { context: whole, markdown } = await context.read(request.caller, rest)
      // The server time differs in every response, and does not make it a new one.
      const content = without(whole, ['serverTime', 'instructions'])
      const { versions, memoryBytes } = whole.instructions
      const etag = etagOfContent([format ?? 'json', content, versions], { isWeak: true })
      if (reply.isNotModified(etag)) return reply.status(304).send(null)
      reply.memoryBytes = memoryBytes
      if (format !== 'markdown') return reply.sendPieces<Context>(whole)
      return reply.type('text/markdown; charset=utf-8').sendText<Context>(markdown())
    },
  )
}
