import { readStored, writeStored } from './stored.ts'

/**
 * Sends a body with an Idempotency-Key that is reused until a response arrives, so that a retry creates nothing
 * twice. After a response the same body is a new request.
 */
export function useIdempotentSend(name: string) {
  const storedAs = `inlet-draft:sent-${name}`

  function keyFor(body: object): string {
    const text = JSON.stringify(body)
    // Not as it was rendered: a retry is of an earlier render.
    const storedRequest = readStored(storedAs)
    const last = storedRequest && (JSON.parse(storedRequest) as { key: string; text: string })
    if (last && last.text === text) return last.key
    const key = randomKey()
    writeStored(storedAs, JSON.stringify({ key, text }))
    return key
  }

  return async function sendOnce<T>(
    body: object,
    send: (header: { 'idempotency-key': string }) => Promise<T>,
  ): Promise<T> {
    const response = await send({ 'idempotency-key': keyFor(body) })
    writeStored(storedAs, undefined)
    return response
  }
}

/** `crypto.randomUUID` exists only in secure contexts. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
