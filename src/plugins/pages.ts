import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { jsonPieces } from '../lib/json-pieces.ts'
import { pacedPieces } from '../lib/paced-pieces.ts'
import { streamedInTurns } from '../lib/streamed.ts'
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
        const { items, nextCursor, more, rest } = page
        const end = `],${JSON.stringify({ nextCursor, ...more }).slice(1)}`
        const json = rest ? inPortions(rest, end) : `{"data":[${items}${end}`
        return asBody<Page<T>>(this.send(serialized(this, json)))
      }
      const { data, rest } = page
      return rest ? asBody<Page<T>>(this.send(serialized(this, textOf(this, { data, rest })))) : page
    })
    app.decorateReply('sendPieces', function <T>(this: FastifyReply, object: object) {
      return this.type('application/json; charset=utf-8').sendText<T>(jsonPieces(object))
    })
    app.decorateReply('sendText', function <T>(this: FastifyReply, pieces: AsyncIterable<string>) {
      return asBody<T>(this.send(streamedInTurns(pacedPieces(pieces))))
    })
  },
  { name: 'pages', dependencies: ['large-responses'] },
)

/**
 * The payload of a response whose JSON is sent as it is: a text, or parts at the reader's pace. Casts: the type provider
 * expects the schema's type, and the payload is its serialized form.
 */
export function serialized<T>(reply: FastifyReply, json: string | AsyncIterable<string>): T {
  reply.type('application/json; charset=utf-8')
  if (typeof json !== 'string') return streamedInTurns(json) as unknown as T
  reply.serializer((text: unknown) => text as string)
  return json as unknown as T
}

async function* inPortions(portions: AsyncIterable<string>, end: string): AsyncGenerator<string> {
  let separator = '{"data":['
  for await (const portion of portions) {
    yield separator + portion
    separator = ','
  }
  yield separator === ',' ? end : separator + end
}

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

/** Cast: a reply that was sent stands for its body. */
const asBody = <T>(reply: FastifyReply) => reply as unknown as T
