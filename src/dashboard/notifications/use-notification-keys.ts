import { type RefObject, useEffect, useEffectEvent } from 'react'
import { isShortcut } from '../keyboard/shortcuts.ts'

/** `j` and `k` move the focus over the links of a list, and `e` is for the one that has it. */
export function useNotificationKeys(list: RefObject<HTMLElement | null>, onRead: (id: string) => void) {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (!isShortcut(event)) return
    const links = [...(list.current?.querySelectorAll<HTMLElement>('[data-notification]') ?? [])]
    const index = links.findIndex((link) => link === document.activeElement)
    if (event.key === 'j') links[Math.min(links.length - 1, index + 1)]?.focus()
    else if (event.key === 'k') links[Math.max(0, index - 1)]?.focus()
    else if (event.key !== 'e' || event.repeat) return
    else onRead(links[index]?.dataset.notification ?? '')
    event.preventDefault()
  })
  useEffect(() => {
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}
