import { useState } from 'react'

/**
 * Text that is being written, kept in the tab: a session that ends, a reload and a service that restarts lose
 * nothing. Undefined when nothing is being written.
 */
export function useDraft(name: string) {
  const key = `inlet-draft:${name}`
  const [draft, setDraft] = useState<string | undefined>(() => sessionStorage.getItem(key) ?? undefined)
  return [
    draft,
    (text: string | undefined) => {
      setDraft(text)
      if (text === undefined) sessionStorage.removeItem(key)
      else sessionStorage.setItem(key, text)
    },
  ] as const
}
