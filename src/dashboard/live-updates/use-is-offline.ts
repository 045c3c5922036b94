import { useSyncExternalStore } from 'react'

/** What the browser says at once, long before a request fails or the stream ends. */
export const useIsOffline = () => useSyncExternalStore(subscribe, () => !navigator.onLine)

function subscribe(onChange: () => void): () => void {
  addEventListener('offline', onChange)
  addEventListener('online', onChange)
  return () => {
    removeEventListener('offline', onChange)
    removeEventListener('online', onChange)
  }
}
