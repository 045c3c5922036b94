import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { unsupportedMediaType } from '../errors/index.ts'
import { ImportResult } from '../schemas/import.ts'
import { ref } from '../schemas/parts.ts'
import { responses } from '../schemas/responses.ts'
import { importOperations } from '../services/import.ts'
import type { Services } from '../services/index.ts'

/** Imports an export. */
export const importRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'imports'>> = async (
  app,
  { imports },
) => {
  app.removeAllContentTypeParsers()
  // Read line by line, after the guards.
  app.addContentTypeParser(MEDIA_TYPE, async (_request: unknown, body: Readable) => body)
  // Not read at all.
  app.addContentTypeParser('*', async () => ({}))

  app.post(
    '',
    {
      config: {
        operation: importOperations.run,
        isLong: () => true,
        isAllowedDuringImport: true,
        errors: ['service_key_required', 'import_not_empty', 'import_in_progress'],
      },
      schema: {
        tags: ['Service'],
        operationId: 'importData',
        summary: 'Import all data',
        description:
          'Imports an export into an instance without tasks: all of it, or nothing. Replaces the Inbox, deleted tasks and rules, the activity, and all people, who have no passwords after that: invite each again with `userId`. Needs an admin key of all projects, or a session of one. Sources, connections, and outgoing webhooks are off until you give them their secrets. Until it ends, other changes return 503 `import_in_progress`. The body can have any size and take any time, as long as it doesn’t stall for 60 seconds. The paths of invalid lines are `line.3.title`, counted from 1.',
        body: Type.Unsafe<Readable | object>({ description: 'What `GET /api/export` returned.' }),
        consumes: [MEDIA_TYPE],
        response: { 200: responses(ref(ImportResult), { description: 'What was imported.' }) },
      },
    },
    async (request) => {
      const { body, caller, headers } = request
      if (!(body instanceof Readable)) throw unsupportedMediaType(headers['content-type'], MEDIA_TYPE)
      request.liftDeadline()
      try {
        return await imports.run(caller, body)
      } finally {
        // What was not read would block the next request on the connection.
        body.resume()
      }
    },
  )
}

const MEDIA_TYPE = 'application/x-ndjson'
