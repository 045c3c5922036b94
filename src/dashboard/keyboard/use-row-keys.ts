import { type RefObject, useEffect, useEffectEvent, useRef } from 'react'
import { isShortcut } from './shortcuts.ts'

interface RowKeys {
  list: RefObject<HTMLElement | null>
  /** How many rows there are. */
  count: number
  /** What has the focus in a row. */
  selector: string
  /** The key that acts on a row: the one with the focus, or else the first. */
  key: string
  onKey(target: HTMLElement): void
}

/** Moves the focus over the rows of a list with `j` and `k`. When a row disappears, the next one takes the focus. */
export function useRowKeys({ list, count, selector, key, onKey }: RowKeys) {
  const targetIndex = useRef<number>(undefined)
  const targetsIn = () => [...(list.current?.querySelectorAll<HTMLElement>(selector) ?? [])]

  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (!isShortcut(event) || event.repeat) return
    const targets = targetsIn()
    const focusedIndex = targets.indexOf(document.activeElement as HTMLElement)
    if (event.key === 'j') targetIndex.current = Math.min(targets.length - 1, focusedIndex + 1)
    else if (event.key === 'k') targetIndex.current = Math.max(0, focusedIndex - 1)
    else if (event.key === key) targetIndex.current = Math.max(0, focusedIndex)
    else return
    event.preventDefault()
    const target = targets[targetIndex.current]
    target?.focus()
    if (target && event.key === key) onKey(target)
  })
  useEffect(() => {
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])

  const focusNext = useEffectEvent(() => {
    if (targetIndex.current === undefined || document.activeElement !== document.body) return
    const targets = targetsIn()
    targets[Math.min(targetIndex.current, targets.length - 1)]?.focus()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are fewer rows.
  useEffect(focusNext, [count])
}
