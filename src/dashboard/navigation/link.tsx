import { type ComponentProps, useRef } from 'react'
import { Link as WouterLink } from 'wouter'
import { useNavigation } from './location-provider.tsx'
import { formatSearch, type Search } from './search-params.ts'

export type Path =
  | '/sign-in'
  | `/${'tasks' | 'triage' | 'overview' | 'notifications' | 'incoming' | 'projects' | 'trash' | 'settings'}${'' | `/${string}`}`

/** A pointer that stays this long on a link preloads its page. */
const PRELOAD_DELAY_MS = 50

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  to: Path
  search?: Search
  /** Added while the address is of this page or below, with at least these search parameters. */
  activeClassName?: string
  /** Active on this page alone, not below. */
  isExact?: boolean
  /** Whether it is active, if more than the address says so. */
  isActive?: boolean
}

/** A link to a page of the dashboard, which it preloads. */
export function Link({
  to,
  search = {},
  activeClassName = '',
  className = '',
  isExact = false,
  isActive: given,
  ...rest
}: LinkProps) {
  const { url, preloadPage } = useNavigation()
  const preloadTimer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const searchStr = formatSearch(search)
  const preload = () => preloadPage(to + searchStr)
  const isAt =
    (isExact ? url.pathname === to : `${url.pathname}/`.startsWith(`${to}/`)) &&
    [...new URLSearchParams(searchStr)].every(([name, value]) => url.searchParams.get(name) === value)
  const isActive = given ?? isAt
  return (
    <WouterLink
      {...rest}
      href={to + searchStr}
      className={isActive ? `${className} ${activeClassName}` : className}
      aria-current={isActive ? 'page' : undefined}
      onFocus={preload}
      onTouchStart={preload}
      onMouseEnter={() => {
        preloadTimer.current = setTimeout(preload, PRELOAD_DELAY_MS)
      }}
      onMouseLeave={() => clearTimeout(preloadTimer.current)}
    />
  )
}
