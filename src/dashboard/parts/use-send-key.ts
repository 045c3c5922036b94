import { useDraft } from './use-draft.ts'

/** The Idempotency-Key of what is being written: what was received but not answered is not made twice. */
export function useSendKey(name: string) {
  const [held, hold] = useDraft(`sent-${name}`)
  return {
    /** The same key for as long as the same is sent; other words are another request. */
    keyOf(body: object): string {
      const text = JSON.stringify(body)
      const last = held && (JSON.parse(held) as { key: string; text: string })
      if (last && last.text === text) return last.key
      const key = randomKey()
      hold(JSON.stringify({ key, text }))
      return key
    },
    /** It was answered: the same words once more are meant as a second one. */
    forget: () => hold(undefined),
  }
}

/** Not `randomUUID`: browsers keep it from a page that comes over plain http. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
