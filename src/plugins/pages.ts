import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { jsonPieces } from '../lib/json-pieces.ts'
import { pacedPieces } from '../lib/paced-pieces.ts'
import type { Page, PageJson } from '../services/page.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Sends a page; streams one that is not whole in memory, in the form of the whole, at the reader's pace. */
    sendPage<T>(page: Page<T> | PageJson): Promise<Page<T>>
    /** Streams JSON at the reader's pace: item by item, where a member is an array or an async iterable. */
    sendPieces<T>(object: object): T
    /** Streams text at the reader's pace. */
    sendText<T>(pieces: AsyncIterable<string>): T
  }
}

export const pages = fp(
  async function pages(app: FastifyInstance) {
    app.decorateReply('sendPage', async function <T>(this: FastifyReply, page: Page<T> | PageJson) {
      if ('items' in page) {
        const { items, nextCursor } = page
        const text = `{"data":[${items}],"nextCursor":${JSON.stringify(nextCursor)}}`
        return asBody<Page<T>>(this.type('application/json; charset=utf-8').serializer(asIs).send(text))
      }
      if (!page.rest) return page
      this.type('application/json; charset=utf-8')
      return asBody<Page<T>>(
        this.send(Readable.from(textOf(this, { data: page.data, rest: page.rest }), { objectMode: false })),
      )
    })
    app.decorateReply('sendPieces', function <T>(this: FastifyReply, object: object) {
      return this.type('application/json; charset=utf-8').sendText<T>(jsonPieces(object))
    })
    app.decorateReply('sendText', function <T>(this: FastifyReply, pieces: AsyncIterable<string>) {
      return asBody<T>(this.send(Readable.from(pacedPieces(pieces), { objectMode: false })))
    })
  },
  { name: 'pages', dependencies: ['large-responses'] },
)

async function* textOf<T>(
  reply: FastifyReply,
  { data, rest }: Required<Pick<Page<T>, 'data' | 'rest'>>,
): AsyncGenerator<string> {
  const whole = (data: T[], nextCursor: string | null) =>
    String(reply.serializeInput({ data, nextCursor } as never, '200', 'application/json'))
  const opening = whole([], null).split(']', 1)[0] ?? ''
  const closing = (nextCursor: string | null) => whole([], nextCursor).slice(opening.length)
  const itemsOf = (data: T[]) => whole(data, null).slice(opening.length, -closing(null).length)

  yield opening + itemsOf(data)
  for (;;) {
    const { done, value } = await rest.next()
    if (done) {
      yield closing(value)
      return
    }
    if (value.length > 0) yield `,${itemsOf(value)}`
  }
}

const asIs = (text: unknown) => text as string

/** Cast: the type provider expects the schema's type, and the text is its serialized form. */
const asBody = <T>(reply: FastifyReply) => reply as unknown as T
