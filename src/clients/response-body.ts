import { jsonElements } from '../lib/json-elements.ts'

/** A page of 100 items with bodies of maximum length is 25 MB of text; escaped, up to twice that. */
export const MAX_BYTES = 64 * 1024 * 1024
/** Larger pages are parsed item by item: as text and parsed, a page takes three times its bytes. */
const MAX_CHUNK_BYTES = 2 * 1024 * 1024

/** The response is larger than `MAX_BYTES`. */
export class TooLarge extends Error {}

/** The body of a response, which Octokit types as `any`. */
export async function* counted(
  data: unknown,
  { size, onLargeBody }: { size: { bytes: number }; onLargeBody: () => void },
): AsyncGenerator<Uint8Array> {
  let nextCall = MAX_CHUNK_BYTES
  for await (const chunk of data as ReadableStream<Uint8Array>) {
    size.bytes += chunk.byteLength
    if (size.bytes > MAX_BYTES) throw new TooLarge()
    yield chunk
    if (size.bytes < nextCall) continue
    nextCall = size.bytes + MAX_CHUNK_BYTES
    onLargeBody()
  }
}

/** A large page is parsed item by item; a small one at once, which takes a sixth of the time. */
export async function readList(body: AsyncGenerator<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for (let bytes = 0; bytes <= MAX_CHUNK_BYTES; ) {
    const { done, value } = await body.next()
    if (done) return undefinedIfInvalid(() => JSON.parse(Buffer.concat(chunks).toString()))
    bytes += value.byteLength
    chunks.push(value)
  }
  return undefinedIfInvalid(async () => {
    const elements = []
    for await (const element of jsonElements(following(chunks, body))) elements.push(element)
    return elements
  })
}

/** The chunks already read, followed by the remaining ones. */
async function* following(chunks: Uint8Array[], rest: AsyncGenerator<Uint8Array>) {
  try {
    while (chunks[0]) yield chunks.shift() as Uint8Array
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

export async function readValue(body: AsyncGenerator<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return undefinedIfInvalid(() => JSON.parse(Buffer.concat(chunks).toString()))
}

async function undefinedIfInvalid<T>(parse: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await parse()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Cancels an unread body; its connection is not reused. */
export async function drain(data: unknown): Promise<void> {
  if (data instanceof ReadableStream) await data.cancel().catch(() => {})
}
