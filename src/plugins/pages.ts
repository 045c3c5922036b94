import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { jsonPieces } from '../lib/json-pieces.ts'
import { pacedPieces } from '../lib/paced-pieces.ts'
import { streamedInTurns } from '../lib/streamed.ts'
import type { Page, PageJson } from '../services/page.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Sends a page whose items are JSON. */
    sendPage<T>(page: PageJson): Page<T>
    /** Streams JSON at the reader's pace: item by item, where a member is an array or an async iterable. */
    sendPieces<T>(object: object): T
    /** Streams text at the reader's pace. */
    sendText<T>(pieces: AsyncIterable<string>): T
  }
}

export const pages = fp(
  async function pages(app: FastifyInstance) {
    app.decorateReply('sendPage', function <T>(this: FastifyReply, { items, nextCursor, more }: PageJson) {
      const end = `],${JSON.stringify({ nextCursor, ...more }).slice(1)}`
      return serialized<Page<T>>(this, Buffer.concat([DATA, ...items, Buffer.from(end)]))
    })
    app.decorateReply('sendPieces', function <T>(this: FastifyReply, object: object) {
      return this.type('application/json; charset=utf-8').sendText<T>(jsonPieces(object))
    })
    // Cast: a reply that was sent stands for its body.
    app.decorateReply('sendText', function <T>(this: FastifyReply, pieces: AsyncIterable<string>) {
      return this.send(streamedInTurns(pacedPieces(pieces))) as unknown as T
    })
  },
  { name: 'pages', dependencies: ['large-responses'] },
)

const DATA = Buffer.from('{"data":[')

/** The payload of a response whose JSON is sent as it is. Cast: the type provider expects the schema's type. */
export function serialized<T>(reply: FastifyReply, json: string | Buffer): T {
  reply.type('application/json; charset=utf-8').serializer((payload: unknown) => payload as string)
  return json as unknown as T
}
