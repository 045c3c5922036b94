import { type RefObject, useEffect, useRef } from 'react'
import { isCommand } from '../../keyboard/shortcuts.ts'

/** `j`, `k` and `r` over the rows of the trash, whose button to restore has the focus. */
export function useTrashKeys(list: RefObject<HTMLElement | null>, count: number) {
  const place = useRef<number>(undefined)

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isCommand(event) || event.repeat) return
      const buttons = buttonsOf(list.current)
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement)
      if (event.key === 'j') place.current = Math.min(buttons.length - 1, at + 1)
      else if (event.key === 'k') place.current = Math.max(0, at - 1)
      else if (event.key === 'r') place.current = Math.max(0, at)
      else return
      event.preventDefault()
      const button = buttons[place.current]
      button?.focus()
      if (event.key === 'r') button?.click()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [list])

  // A row that was restored takes the focus with it: the next one gets it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are fewer rows.
  useEffect(() => {
    if (place.current === undefined || document.activeElement !== document.body) return
    const buttons = buttonsOf(list.current)
    buttons[Math.min(place.current, buttons.length - 1)]?.focus()
  }, [list, count])
}

const buttonsOf = (list: HTMLElement | null) => [...(list?.querySelectorAll('button') ?? [])]
