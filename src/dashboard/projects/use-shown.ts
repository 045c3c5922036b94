import { useIsFetching } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useParameter } from '../navigation/use-parameter.ts'

/** For the part of a page that its address names: scrolls there, once what is above it is loaded. */
export function useShown(name: string) {
  const ref = useRef<HTMLElement>(null)
  const [shown] = useParameter('show')
  const isLoading = useIsFetching() > 0
  const isDone = useRef(false)
  useEffect(() => {
    if (shown !== name || isLoading || isDone.current) return
    isDone.current = true
    ref.current?.scrollIntoView({ block: 'center' })
  }, [shown, name, isLoading])
  return ref
}
