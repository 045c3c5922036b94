import { useDraft } from './use-draft.ts'

/**
 * Sends what was written under an Idempotency-Key: what was received but not answered is not made twice. The key stays
 * for as long as the same is sent; once it was answered, the same words are meant as a second one.
 */
export function useSendOnce(name: string) {
  const [held, hold] = useDraft(`sent-${name}`)

  function keyOf(body: object): string {
    const text = JSON.stringify(body)
    const last = held && (JSON.parse(held) as { key: string; text: string })
    if (last && last.text === text) return last.key
    const key = randomKey()
    hold(JSON.stringify({ key, text }))
    return key
  }

  return async function sendOnce<T>(
    body: object,
    send: (header: { 'idempotency-key': string }) => Promise<T>,
  ): Promise<T> {
    const answer = await send({ 'idempotency-key': keyOf(body) })
    hold(undefined)
    return answer
  }
}

/** Not `randomUUID`: browsers keep it from a page that comes over plain http. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
