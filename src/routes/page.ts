import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Page } from '../services/page.ts'

/**
 * Answers a page. One of which not all is in memory goes out piece by piece, as fast as its reader takes it, in the
 * very form it would have as a whole.
 */
export async function sendPage<T>(reply: FastifyReply, page: Page<T>): Promise<Page<T>> {
  if (!page.rest) return page
  reply.type('application/json; charset=utf-8')
  return asPage(reply.send(Readable.from(textOf(reply, page.data, page.rest), { objectMode: false })))
}

async function* textOf<T>(
  reply: FastifyReply,
  first: T[],
  rest: NonNullable<Page<T>['rest']>,
): AsyncGenerator<string> {
  const whole = (data: T[], nextCursor: string | null) =>
    String(reply.serializeInput({ data, nextCursor } as never, '200', 'application/json'))
  const opening = whole([], null).split(']', 1)[0] ?? ''
  const closing = (nextCursor: string | null) => whole([], nextCursor).slice(opening.length)
  const itemsOf = (data: T[]) => whole(data, null).slice(opening.length, -closing(null).length)

  yield opening + itemsOf(first)
  for (;;) {
    const { done, value } = await rest.next()
    if (done) {
      yield closing(value)
      return
    }
    if (value.length > 0) yield `,${itemsOf(value)}`
  }
}

/** The provider wants what the schema says; what is sent is the same as text. */
const asPage = <T>(reply: FastifyReply) => reply as unknown as Page<T>
