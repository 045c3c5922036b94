import { useCallback } from 'react'
import { navigate, useLocationProperty } from 'wouter/use-browser-location'
import { afterGoingBack } from './go-back.ts'
import { useNavigation } from './location-provider.tsx'

/** What opens over any page, also while that loads: a new project or task, the help, the name of a filter. */
const OVER_PAGES = ['new', 'help', 'rename-filter']

/** A choice on a page, such as a filter, as a search parameter: a link has it, and a reload keeps it. */
export function useParameter(name: string) {
  const { pathname } = useNavigation().url
  const value = useLocationProperty(() => {
    // The address is ahead of the page while the next page loads.
    return location.pathname === pathname || OVER_PAGES.includes(name) ? parameterOf(name) : undefined
  })
  const setValue = useCallback(
    (next: string | undefined) =>
      afterGoingBack(() => navigate(addressWith([[name, next]]), { replace: true, state: history.state })),
    [name],
  )
  return [value, setValue] as const
}

export const parameterOf = (name: string) => new URLSearchParams(location.search).get(name) || undefined

/** The page alone, without what is open over it. */
export function pageOf({ pathname, search }: URL): string {
  const params = new URLSearchParams(search)
  for (const name of OVER_PAGES) params.delete(name)
  return `${pathname}?${params}`
}

/** The present address with other parameters; without those that have no value. */
export function addressWith(
  parameters: Iterable<readonly [name: string, value?: string | undefined]>,
): string {
  const url = new URL(location.href)
  for (const [name, value] of parameters) {
    if (value === undefined) url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  }
  return url.href
}
