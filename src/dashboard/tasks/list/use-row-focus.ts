import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react'

interface RowFocus {
  scroller: RefObject<HTMLElement | null>
  /** The index of the focused task; negative when it is not in the list. */
  focusedIndex: number
}

/** Focuses the row of the keyboard position, and keeps the focus in the list when that row disappears. */
export function useRowFocus({ scroller, focusedIndex }: RowFocus): (id: string) => void {
  const pendingId = useRef<string>(undefined)
  const hadFocus = useRef(false)

  useLayoutEffect(() => {
    if (!pendingId.current) return
    const link = scroller.current?.querySelector<HTMLElement>(`[data-task="${pendingId.current}"] a`)
    // Rows outside the viewport are rendered after scrolling.
    if (!link) return
    pendingId.current = undefined
    link.focus({ preventScroll: true })
  })

  useEffect(() => {
    const updateHadFocus = () => {
      hadFocus.current = scroller.current?.contains(document.activeElement) ?? false
    }
    addEventListener('focusin', updateHadFocus)
    return () => removeEventListener('focusin', updateHadFocus)
  }, [scroller])

  useLayoutEffect(() => {
    if (focusedIndex >= 0 || !hadFocus.current || document.activeElement !== document.body) return
    scroller.current?.focus({ preventScroll: true })
  }, [focusedIndex, scroller])

  return useCallback((id) => {
    pendingId.current = id
  }, [])
}
