import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react'

interface RowFocus {
  scroller: RefObject<HTMLElement | null>
  /** The index of the focused task; negative when it is not in the list. */
  focusedIndex: number
  focusedRowId: string | undefined
}

/** Focuses the row of the keyboard position, and keeps the focus in the list when that row disappears. */
export function useRowFocus({ scroller, focusedIndex, focusedRowId }: RowFocus): (id: string) => void {
  const pendingId = useRef<string>(undefined)
  const hadFocus = useRef(false)

  useLayoutEffect(() => {
    if (!pendingId.current) return
    const link = rowLink(scroller.current, pendingId.current)
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
    if (!hadFocus.current || document.activeElement !== document.body) return
    const link = focusedIndex < 0 ? null : rowLink(scroller.current, focusedRowId)
    const focused = link ?? scroller.current
    focused?.focus({ preventScroll: true })
  }, [focusedIndex, focusedRowId, scroller])

  return useCallback((id) => {
    pendingId.current = id
  }, [])
}

const rowLink = (scroller: HTMLElement | null, id: string | undefined) =>
  scroller?.querySelector<HTMLElement>(`[data-task="${id}"] a`)
