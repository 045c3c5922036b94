import { type ComponentProps, type MouseEvent as ReactMouseEvent, useRef } from 'react'
import { type Path, useLocation, useRouter } from './router.tsx'
import type { Search } from './search-params.ts'

/** A pointer that stays this long on a link preloads its page. */
const PRELOAD_DELAY_MS = 50

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  to: Path
  search?: Search
  /** Added while the address is of this page or below, with at least these search parameters. */
  activeClassName?: string
}

/** A link to a page of the dashboard. */
export function Link({ to, search = {}, activeClassName = '', className = '', onClick, ...rest }: LinkProps) {
  const router = useRouter()
  const location = useLocation()
  const preloadTimer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const href = router.hrefOf({ to, search })
  const isActive = `${location.pathname}/`.startsWith(`${to}/`) && includesSearch(location.search, search)

  const open = (event: ReactMouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const opensElsewhere =
      event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey
    if (event.defaultPrevented || opensElsewhere) return
    event.preventDefault()
    void router.open(href)
  }
  const preload = () => router.preload(href)
  return (
    <a
      {...rest}
      href={href}
      className={isActive ? `${className} ${activeClassName}` : className}
      aria-current={isActive ? 'page' : undefined}
      onClick={open}
      onFocus={preload}
      onTouchStart={preload}
      onMouseEnter={() => {
        preloadTimer.current = setTimeout(preload, PRELOAD_DELAY_MS)
      }}
      onMouseLeave={() => clearTimeout(preloadTimer.current)}
    />
  )
}

const includesSearch = (search: Search, part: Search) =>
  (Object.keys(part) as (keyof Search)[]).every(
    (name) => JSON.stringify(part[name]) === JSON.stringify(search[name]),
  )
