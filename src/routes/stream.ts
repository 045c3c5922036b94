import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { shuttingDown } from '../errors/index.ts'
import { streamed } from '../lib/streamed.ts'
import { LastEventId, StreamQuery } from '../schemas/activity.ts'
import type { StreamEvent } from '../services/activity/feed.ts'
import { type StreamBatch, streamOperations } from '../services/activity/stream.ts'
import type { Services } from '../services/index.ts'

/** A stream that has ended but is not read to its end is destroyed after this. */
const GRACE_MS = 1_000

/** The activity log as server-sent events. */
export const streamRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'stream' | 'feed' | 'metrics'>> = async (
  app,
  { stream, feed, metrics },
) => {
  feed.onError((err) => app.log.warn({ err }, 'could not read the activity log for streams'))
  app.addHook('preClose', () => feed.idle())

  app.get(
    '',
    {
      // HEAD would start a stream that no client reads.
      exposeHeadRoute: false,
      config: { operation: streamOperations.open, isLong: () => true, errors: ['project_not_found'] },
      schema: {
        tags: ['Activity'],
        operationId: 'streamActivity',
        summary: 'Stream activity',
        description:
          'Streams activity of all instances as server-sent events, each with a cursor as its ID, its type as the event name, and the Activity as one line of data. With `Last-Event-ID`, which browsers send when they reconnect, it continues exactly after that event. The ID is also a `cursor` of `GET /api/changes`. Five events have no ID and aren’t stored: `sync.progress` with the sync run; `project.changed` with the `projectId` of a project whose name, lists or connection changed (null means any project: fetch them all again, as after a reconnect); `routing.changed` when the routing rules change; `notification.changed` when your notifications may have changed, if you are a person; `stream.reset` when your `Last-Event-ID` is from before the database was restored or replaced by an import: fetch everything again, the stream begins now. The stream sends a comment with an ID to resume from at once, and after 15 seconds without an event. A client that falls far behind is disconnected and can resume. With `bursts=summary`, many changes at once are one event `stream.burst` with the ID of the last one: fetch again what you show.',
        querystring: StreamQuery,
        headers: LastEventId,
        response: {
          200: {
            description:
              'The stream. It ends when the key is revoked or expires, or the instance shuts down.',
            headers: {
              'x-request-id': Type.String({ description: 'The ID of the request. It is also in the log.' }),
              'cache-control': Type.String({ description: 'Always `no-store`.' }),
            },
            content: { 'text/event-stream': { schema: EventStream } },
          },
        },
      },
    },
    async (request, reply) => {
      const ending = reply.untilEnd()
      metrics.streamOpened()
      reply.raw.once('close', () => metrics.streamClosed())
      const events = await stream.open(request.caller, {
        request: { ...request.query, lastEventId: request.headers['last-event-id'] },
        ending,
      })
      if (app.isDraining()) throw shuttingDown()
      ending.signal.addEventListener('abort', () => {
        setTimeout(() => reply.raw.destroy(), GRACE_MS).unref()
      })
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // No request follows on the connection, so it does not delay a draining instance.
        connection: 'close',
        'x-accel-buffering': 'no',
      })
      return reply.send(streamed(framesOf(events)))
    },
  )
}

const EventStream = Type.Unsafe<Readable>({ type: 'string', description: 'Server-sent events.' })

async function* framesOf(batches: AsyncIterable<StreamBatch>): AsyncGenerator<string> {
  for await (const { events, cursor } of batches)
    yield events.length > 0 ? events.map(frameOf).join('') : `: here\nid: ${cursor}\n\n`
}

const frameOf = ({ id, type, data }: StreamEvent) =>
  `${id === null ? '' : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`
