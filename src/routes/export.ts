import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { connectionClosed } from '../errors/index.ts'
import { streamedInTurns } from '../lib/streamed.ts'
import { exportOperations } from '../services/export.ts'
import type { Services } from '../services/index.ts'

/** Exports all data. */
export const exportRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'exports'>> = async (
  app,
  { exports },
) => {
  app.get(
    '',
    {
      // HEAD would open a snapshot that nobody reads.
      exposeHeadRoute: false,
      config: { operation: exportOperations.open, isLong: () => true },
      schema: {
        tags: ['Service'],
        operationId: 'exportData',
        summary: 'Export all data',
        description:
          'Returns all data as of one point in time, as JSON on one line for each row: a header; projects, lists, tasks with deleted ones, comments, rules with their versions, routing rules, activity, sources, connections and outgoing webhooks; and a last line with counts and the SHA-256 of the lines between. Secrets, keys, sessions, deliveries, and sync runs aren’t exported. `POST /api/import` of a new instance reads it.',
        response: {
          200: {
            description: 'The export.',
            headers: {
              'x-request-id': Type.String({ description: 'The ID of the request. It is also in the log.' }),
              'content-disposition': Type.String({ description: 'A file name with the date.' }),
            },
            content: { 'application/x-ndjson': { schema: Lines } },
          },
        },
      },
    },
    async (request, reply) => {
      const { pieces, createdAt, close } = await exports.open(request.caller)
      reply.raw.once('close', close)
      if (reply.raw.destroyed) {
        await close()
        throw connectionClosed()
      }
      const name = `inlet-${createdAt.toISOString().slice(0, 10)}.ndjson`
      return reply
        .headers({
          'content-type': 'application/x-ndjson',
          'content-disposition': `attachment; filename="${name}"`,
        })
        .send(streamedInTurns(pieces))
    },
  )
}

const Lines = Type.Unsafe<Readable>({ type: 'string', description: 'A JSON object on each line.' })
