import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useParameter } from '../navigation/use-parameter.ts'

/** What a person scrolls with, or does instead. */
const ACTS = ['wheel', 'touchmove', 'pointerdown', 'keydown']

/**
 * For the part of a page that its address names: scrolls there once, when what is above it is loaded, unless the person has
 * gone elsewhere meanwhile. Belongs into what stays on the page, so that the part can disappear and be shown again.
 */
export function useShown(name: string) {
  const ref = useRef<HTMLElement>(null)
  const [shown] = useParameter('show')
  const queryClient = useQueryClient()
  const isLoading = useIsFetching() > 0
  const isDone = useRef(false)
  useEffect(() => {
    // What has just been mounted above it has begun to load, which is not rendered yet.
    const isReady = !isLoading && queryClient.isFetching() === 0
    if (shown !== name || !isReady || isDone.current || !ref.current) return
    isDone.current = true
    ref.current.scrollIntoView({ block: 'center' })
  }, [shown, name, isLoading, queryClient])
  useEffect(() => {
    const finish = () => {
      isDone.current = true
    }
    for (const type of ACTS) addEventListener(type, finish, { passive: true })
    return () => {
      for (const type of ACTS) removeEventListener(type, finish)
    }
  }, [])
  return ref
}
