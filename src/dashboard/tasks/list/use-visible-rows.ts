import { type RefObject, useCallback, useRef, useState, useSyncExternalStore } from 'react'
import { flushSync } from 'react-dom'
import { indexesToRender } from './indexes-to-render.ts'

interface VisibleRowsOptions {
  scroller: RefObject<HTMLElement | null>
  count: number
  /** In pixels, the same for all rows. */
  rowHeight: number
  /** The height of the scroller until it is measured, so that rows are part of the first render. */
  estimatedHeight: number
  /** The number of rows rendered before and after the visible ones. */
  overscan: number
  /** Stays rendered outside the viewport, and in it while that gets smaller; negative for none. */
  keptIndex: number
}

const print = matchMedia('print')

function onPrint(onChange: () => void) {
  const change = () => flushSync(onChange)
  print.addEventListener('change', change)
  return () => print.removeEventListener('change', change)
}

/** Which rows of a scrolling list to render. The scroller takes the returned `ref`. */
export function useVisibleRows({ scroller, rowHeight, estimatedHeight, ...rows }: VisibleRowsOptions) {
  const [firstIndex, setFirstIndex] = useState(0)
  const [height, setHeight] = useState(estimatedHeight)
  const keptIndex = useRef(-1)
  keptIndex.current = rows.keptIndex

  const ref = useCallback(
    (element: HTMLElement) => {
      scroller.current = element
      // A new element starts at its top. Reading its position here would force a layout.
      setFirstIndex(0)
      let lastHeight = 0
      const observer = new ResizeObserver(() => {
        const { offsetHeight, scrollTop } = element
        const end = (keptIndex.current + 1) * rowHeight - scrollTop
        // A toast takes the room of the last rows.
        if (end <= lastHeight && end > offsetHeight) element.scrollTop = scrollTop + end - offsetHeight
        lastHeight = offsetHeight
        setHeight(offsetHeight)
      })
      observer.observe(element)
      const onScroll = () => {
        const first = Math.max(0, Math.floor(element.scrollTop / rowHeight))
        // Rendered before the browser paints, so that fast scrolling shows no gaps.
        flushSync(() => setFirstIndex(first))
      }
      element.addEventListener('scroll', onScroll, { passive: true })
      return () => {
        observer.disconnect()
        element.removeEventListener('scroll', onScroll)
        scroller.current = null
      }
    },
    [scroller, rowHeight],
  )

  /** Scrolls no further than needed. */
  function scrollToIndex(index: number) {
    const element = scroller.current
    if (!element) return
    const start = index * rowHeight
    const lowestTop = start + rowHeight - element.clientHeight
    element.scrollTop = Math.min(start, Math.max(lowestTop, element.scrollTop))
  }

  // All that are loaded are on paper.
  const isPrinting = useSyncExternalStore(onPrint, () => print.matches)
  const visibleCount = isPrinting ? rows.count : Math.ceil(height / rowHeight) + 1
  return { ref, scrollToIndex, indexes: indexesToRender({ firstIndex, visibleCount, ...rows }) }
}
