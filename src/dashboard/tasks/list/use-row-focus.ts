import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react'

interface RowFocus {
  scroller: RefObject<HTMLElement | null>
  /** Where the task stands that has the focus; below zero when it is not among the rows. */
  focusedAt: number
}

/** Gives the focus of the page to the row that the keyboard is on, and keeps it in the list when that row goes. */
export function useRowFocus({ scroller, focusedAt }: RowFocus): (id: string) => void {
  const meant = useRef<string>(undefined)
  const wasWithin = useRef(false)

  useLayoutEffect(() => {
    if (!meant.current) return
    const link = scroller.current?.querySelector<HTMLElement>(`[data-task="${meant.current}"] a`)
    // A row further down is drawn when the list has scrolled there.
    if (!link) return
    meant.current = undefined
    link.focus({ preventScroll: true })
  })

  useEffect(() => {
    const note = () => {
      wasWithin.current = scroller.current?.contains(document.activeElement) ?? false
    }
    addEventListener('focusin', note)
    return () => removeEventListener('focusin', note)
  }, [scroller])

  useLayoutEffect(() => {
    if (focusedAt >= 0 || !wasWithin.current || document.activeElement !== document.body) return
    scroller.current?.focus({ preventScroll: true })
  }, [focusedAt, scroller])

  return useCallback((id) => {
    meant.current = id
  }, [])
}
