import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { readStored, writeStored } from '../../components/stored.ts'

const navigation = performance.getEntriesByType('navigation')[0]
/** Whether the page was reloaded or left before, as opposed to opened by a link. */
let isReturning = navigation instanceof PerformanceNavigationTiming && navigation.type !== 'navigate'
addEventListener('popstate', () => {
  isReturning = true
})
// wouter dispatches it.
addEventListener('pushState', () => {
  isReturning = false
})

interface KeptScroll {
  scroller: RefObject<HTMLElement | null>
  /** Which list it is. */
  address: string
  /** Of the loaded rows. */
  height: number
  hasMore: boolean
  isLoading: boolean
  loadMore(): void
}

/** Keeps where a list is scrolled, for a reload and for going back to it. */
export function useKeptScroll({ scroller, address, height, hasMore, isLoading, loadMore }: KeptScroll) {
  const key = `inlet-scroll:${address}`
  const target = useRef<number>(undefined)
  target.current ??= isReturning ? Number(readStored(key) ?? 0) : 0

  useEffect(() => {
    let top: number | undefined
    const save = () => {
      if (top !== undefined) writeStored(key, String(top))
    }
    const onScroll = ({ target: scrolled }: Event) => {
      if (scrolled === scroller.current) top = scroller.current?.scrollTop
    }
    // Who moves first goes where they want.
    const giveUp = () => {
      target.current = 0
    }
    addEventListener('scroll', onScroll, { capture: true, passive: true })
    addEventListener('pagehide', save)
    for (const type of ['wheel', 'touchmove', 'keydown']) addEventListener(type, giveUp, { passive: true })
    return () => {
      save()
      removeEventListener('scroll', onScroll, { capture: true })
      removeEventListener('pagehide', save)
      for (const type of ['wheel', 'touchmove', 'keydown']) removeEventListener(type, giveUp)
    }
  }, [scroller, key])

  useLayoutEffect(() => {
    const list = scroller.current
    if (!list || !target.current || height === 0) return
    if (hasMore && height < target.current + list.clientHeight) {
      if (!isLoading) loadMore()
      return
    }
    list.scrollTop = target.current
    target.current = 0
  }, [scroller, height, hasMore, isLoading, loadMore])
}
