import {
  type ComponentType,
  createContext,
  lazy,
  startTransition,
  useContext,
  useEffect,
  useState,
} from 'react'
import { ErrorBoundary } from '../components/error-boundary.tsx'
import { type HistoryState, type Location, locate, type Route, type RouteComponent } from './location.ts'
import { formatSearch, type Search } from './search-params.ts'

export type Path = '/sign-in' | `/${'tasks' | 'projects' | 'trash' | 'settings'}${'' | `/${string}`}`

export interface Target {
  /** The current page if it is missing. */
  to?: Path
  /** None if missing; true keeps the current ones. */
  search?: Search | true
}

interface Navigation extends Target {
  replace?: boolean
  state?: HistoryState
}

interface RouterOptions {
  routes: Route[]
  notFound: RouteComponent[]
  errorPage: ComponentType<{ error: unknown }>
  /** Runs before a page is shown, and when it is preloaded. Resolves to another address to go there instead. */
  beforeLoad(location: Location): Promise<string | undefined>
}

/** A page, or the error for which it could not be loaded. */
interface Loaded {
  location: Location
  failure?: { error: unknown }
}

export type Router = ReturnType<typeof createRouter>

/** Shows the page of the address. The previous page stays until the next one is loaded. */
export function createRouter({ routes, notFound, errorPage, beforeLoad }: RouterOptions) {
  let latest: Location | undefined
  let loaded: Loaded | undefined
  let onLoaded = (_: Loaded) => {}

  const locationAt = (href: string, state: HistoryState | null = null) =>
    locate(new URL(href, window.location.origin), { routes, notFound, state, previous: latest })

  /** Loads the page of the address bar; the latest call wins. */
  async function load(): Promise<void> {
    const location = locationAt(window.location.href, history.state)
    latest = location
    // Drops parameters that the page does not have.
    if (location.href !== currentHref()) history.replaceState(history.state, '', location.href)
    const result = await beforeLoad(location).then(
      (otherHref) => ({ location, otherHref }),
      (error: unknown) => ({ location, failure: { error } }),
    )
    if (latest !== location) return
    if ('otherHref' in result && result.otherHref !== undefined) {
      history.replaceState(null, '', result.otherHref)
      return load()
    }
    loaded = result
    startTransition(() => onLoaded(result))
  }

  function hrefOf({ to, search = {} }: Target): string {
    const path = to ?? latest?.pathname ?? '/'
    return path + (search === true ? (latest?.searchStr ?? '') : formatSearch(search))
  }

  /** Like `navigate`, for an address of this dashboard. */
  function open(href: string, { replace = false, state }: Pick<Navigation, 'replace' | 'state'> = {}) {
    const method = replace || href === currentHref() ? 'replaceState' : 'pushState'
    history[method](state ?? null, '', href)
    return load()
  }

  addEventListener('popstate', () => void load())
  void load()

  return {
    errorPage,
    hrefOf,
    open,
    /** Resolves when the page is loaded. */
    navigate: ({ replace, state, ...target }: Navigation) => open(hrefOf(target), { replace, state }),
    /** Fetches the code and the data of a page. */
    preload(href: string) {
      const location = locationAt(href)
      for (const { preload } of location.components) preload?.().catch(() => {})
      beforeLoad(location).catch(() => {})
    },
    loaded: () => loaded,
    /** Calls the listener in a transition when a page is loaded. Returns a function that unsubscribes. */
    subscribe(listener: (loaded: Loaded) => void) {
      onLoaded = listener
      return () => {
        onLoaded = () => {}
      }
    },
  }
}

const currentHref = () => window.location.href.slice(window.location.origin.length)

/** A page whose code is fetched when it is opened or preloaded. */
export function lazyPage<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  const page: RouteComponent = lazy(async () => ({ default: (await load())[name] }))
  page.preload = load
  return page
}

const RouterContext = createContext<Router | undefined>(undefined)
const LocationContext = createContext<Location | undefined>(undefined)
/** How many components of the location are around this one. */
const DepthContext = createContext(0)

export function RouterProvider({ router }: { router: Router }) {
  const [loaded, setLoaded] = useState(router.loaded)
  useEffect(() => {
    // A page that was loaded before this effect; rendered in interruptible steps, like all pages.
    startTransition(() => setLoaded(router.loaded()))
    return router.subscribe(setLoaded)
  }, [router])
  if (!loaded) return null
  const { location, failure } = loaded
  return (
    <RouterContext value={router}>
      <LocationContext value={location}>
        {failure ? <router.errorPage error={failure.error} /> : <Outlet />}
      </LocationContext>
    </RouterContext>
  )
}

/** The page inside a layout. */
export function Outlet() {
  const { errorPage: ErrorPage } = useRouter()
  const location = useLocation()
  const depth = useContext(DepthContext)
  const Page = location.components[depth]
  if (!Page) return null
  return (
    <ErrorBoundary resetKey={location} fallback={(error) => <ErrorPage error={error} />}>
      <DepthContext value={depth + 1}>
        <Page />
      </DepthContext>
    </ErrorBoundary>
  )
}

export function useRouter(): Router {
  const router = useContext(RouterContext)
  if (!router) throw new Error('There is no router around this component.')
  return router
}

export const useNavigate = () => useRouter().navigate

export function useLocation(): Location {
  const location = useContext(LocationContext)
  if (!location) throw new Error('There is no router around this component.')
  return location
}

export const useSearch = () => useLocation().search
export const useParams = () => useLocation().params
