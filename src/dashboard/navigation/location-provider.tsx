import {
  createContext,
  type ReactNode,
  startTransition,
  useContext,
  useEffect,
  useMemo,
  useState,
} from 'react'
import { Router } from 'wouter'
import { navigate as setAddress } from 'wouter/use-browser-location'
import { afterGoingBack } from './go-back.ts'

interface NavigationContext {
  /** The address of the shown page. The address bar is ahead of it while the next page loads. */
  url: URL
  /** Fetches the code and the data of a page. */
  preloadPage(href: string): void
}

const NavigationContext = createContext<NavigationContext | undefined>(undefined)

/** wouter dispatches the latter two. */
const ADDRESS_EVENTS = ['popstate', 'pushState', 'replaceState']

interface LocationProviderProps extends Pick<NavigationContext, 'preloadPage'> {
  children: ReactNode
}

/** Routes in transitions, so that a page stays until the next one is loaded. wouter's own hooks do not wait. */
export function LocationProvider({ preloadPage, children }: LocationProviderProps) {
  const [href, setHref] = useState(window.location.href)
  useEffect(() => {
    const update = () => startTransition(() => setHref(window.location.href))
    // The address may have changed before this effect.
    update()
    for (const event of ADDRESS_EVENTS) addEventListener(event, update)
    return () => {
      for (const event of ADDRESS_EVENTS) removeEventListener(event, update)
    }
  }, [])
  const context = useMemo(() => ({ url: new URL(href), preloadPage }), [href, preloadPage])
  return (
    <NavigationContext value={context}>
      <Router hook={usePathname} searchHook={useSearchString}>
        {children}
      </Router>
    </NavigationContext>
  )
}

export function useNavigation(): NavigationContext {
  const context = useContext(NavigationContext)
  if (!context) throw new Error('There is no LocationProvider around this component.')
  return context
}

/** With the question mark, as it is in the address: wouter's `useSearch` decodes it, so that `%2541` becomes `A`. */
export const useSearchString = () => useNavigation().url.search

const usePathname = (): [string, typeof setAddress] => [useNavigation().url.pathname, navigate]

/** Like a link of the browser, opening the current address adds nothing to the history. */
const navigate: typeof setAddress = (to, { replace, state } = {}) =>
  afterGoingBack(() => {
    const isCurrent = new URL(to, window.location.href).href === window.location.href
    setAddress(to, { replace: replace || isCurrent, state })
  })
