import { type RefObject, useEffect, useRef } from 'react'
import { isShortcut } from '../../keyboard/shortcuts.ts'

/** The shortcuts of the trash: `j`, `k` and `r`. The focus is on the restore buttons. */
export function useTrashShortcuts(list: RefObject<HTMLElement | null>, count: number) {
  const targetIndex = useRef<number>(undefined)

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isShortcut(event) || event.repeat) return
      const buttons = buttonsOf(list.current)
      const focusedIndex = buttons.indexOf(document.activeElement as HTMLButtonElement)
      if (event.key === 'j') targetIndex.current = Math.min(buttons.length - 1, focusedIndex + 1)
      else if (event.key === 'k') targetIndex.current = Math.max(0, focusedIndex - 1)
      else if (event.key === 'r') targetIndex.current = Math.max(0, focusedIndex)
      else return
      event.preventDefault()
      const button = buttons[targetIndex.current]
      button?.focus()
      if (event.key === 'r') button?.click()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [list])

  // When a restored row disappears, the next one takes the focus.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are fewer rows.
  useEffect(() => {
    if (targetIndex.current === undefined || document.activeElement !== document.body) return
    const buttons = buttonsOf(list.current)
    buttons[Math.min(targetIndex.current, buttons.length - 1)]?.focus()
  }, [list, count])
}

const buttonsOf = (list: HTMLElement | null) => [...(list?.querySelectorAll('button') ?? [])]
