import { useLayoutEffect, useRef, useState } from 'react'

type Text = string | undefined

/**
 * Text that is being written, kept in the tab: a session that ends, a reload and a service that restarts lose
 * nothing. Undefined when nothing is being written. A function in place of the text gets what is there by then.
 */
export function useDraft(name: string) {
  const key = `inlet-draft:${name}`
  const [draft, setDraft] = useState<Text>(() => sessionStorage.getItem(key) ?? undefined)
  const latest = useRef(draft)
  useLayoutEffect(() => {
    // Drawing takes its time, and somebody may have typed into what stood in this place until now.
    latest.current = sessionStorage.getItem(key) ?? undefined
    setDraft(latest.current)
  }, [key])
  return [
    draft,
    (next: Text | ((now: Text) => Text)) => {
      const text = typeof next === 'function' ? next(latest.current) : next
      latest.current = text
      setDraft(text)
      if (text === undefined) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, text)
    },
  ] as const
}
