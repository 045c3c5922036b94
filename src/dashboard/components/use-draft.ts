import { useLayoutEffect, useRef, useState } from 'react'
import { readStored, writeStored } from './stored.ts'

type Text = string | undefined

/**
 * Unsaved text in session storage: it survives a reload, an ended session and a restart. Undefined when there is
 * none. A function instead of a text receives the current text.
 */
export function useDraft(name: string) {
  const key = `inlet-draft:${name}`
  const [draft, setDraft] = useState<Text>(() => readStored(key))
  const latest = useRef(draft)
  useLayoutEffect(() => {
    // The placeholder of a lazy component may have written to the draft since the first render.
    latest.current = readStored(key)
    setDraft(latest.current)
  }, [key])
  return [
    draft,
    (next: Text | ((current: Text) => Text)) => {
      const text = typeof next === 'function' ? next(latest.current) : next
      latest.current = text
      setDraft(text)
      writeStored(key, text)
    },
  ] as const
}
