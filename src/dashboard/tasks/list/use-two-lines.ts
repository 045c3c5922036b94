import { useSyncExternalStore } from 'react'

const narrowOrTouch = matchMedia('(max-width: 600px), (pointer: coarse)')

function subscribe(onChange: () => void) {
  narrowOrTouch.addEventListener('change', onChange)
  return () => narrowOrTouch.removeEventListener('change', onChange)
}

/** Whether rows have two lines. By the window: a task that opens changes no row. */
export const useTwoLines = () => useSyncExternalStore(subscribe, () => narrowOrTouch.matches)
