import type { ComponentType, LazyExoticComponent } from 'react'
import { formatSearch, parseSearch, type Search } from './search-params.ts'

/** A component of a route. */
export type RouteComponent = (ComponentType | LazyExoticComponent<ComponentType>) & {
  preload?(): Promise<unknown>
}

export interface Route {
  /** A path with parameters, such as `/tasks/$taskId`. */
  path: string
  /** The page, after the layouts around it. */
  components: RouteComponent[]
  /** Validates search parameters; a route without it has none. */
  searchFrom?(params: Record<string, unknown>): Search
}

/** Kept with the address in the history, but not shown. */
export interface HistoryState {
  /** Whether to focus the search box after navigation. */
  isSearching?: boolean
}

export interface Location {
  /** Path, search parameters and fragment. */
  href: string
  pathname: string
  searchStr: string
  search: Search
  params: { taskId?: string; projectId?: string }
  state: HistoryState
  components: RouteComponent[]
}

interface LocateOptions {
  routes: Route[]
  notFound: RouteComponent[]
  state: HistoryState | null
  /** If it has the same search parameters, the returned location has the same object. */
  previous: Location | undefined
}

/** What the dashboard shows at an address. */
export function locate(url: URL, { routes, notFound, state, previous }: LocateOptions): Location {
  const pathname = url.pathname.replace(/(?<=.)\/+$/, '')
  for (const { path, components, searchFrom } of routes) {
    const params = paramsOf(path, pathname)
    if (!params) continue
    const search = searchFrom?.(parseSearch(url.search)) ?? {}
    const searchStr = formatSearch(search)
    return {
      href: pathname + searchStr + url.hash,
      pathname,
      searchStr,
      search: previous?.searchStr === searchStr ? previous.search : search,
      params,
      state: state ?? {},
      components,
    }
  }
  const href = pathname + url.search + url.hash
  return { href, pathname, searchStr: '', search: {}, params: {}, state: {}, components: notFound }
}

/** The parameters of a path; undefined when it is not of this route. */
function paramsOf(route: string, pathname: string): Location['params'] | undefined {
  const [names, values] = [route.split('/'), pathname.split('/')]
  if (names.length !== values.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const value = values[index] ?? ''
    if (name.startsWith('$') && value !== '') params[name.slice(1)] = value
    else if (name !== value) return undefined
  }
  return params
}
