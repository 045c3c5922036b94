import { useCallback, useState } from 'react'
import { navigate, useLocationProperty } from 'wouter/use-browser-location'
import { afterGoingBack, goBack } from './go-back.ts'
import { useNavigation } from './location-provider.tsx'

/**
 * What is open on a page: a dialog, an editor, a tab, or an item of an inbox, as the search parameter `name`. Its address
 * opens it again, and Back closes it. What is closed is closed at once; links and `navigate` wait for the address.
 */
export function useOpened(name: string) {
  const { pathname } = useNavigation().url
  const addressed = useLocationProperty(() => {
    // The address is ahead of the page while the next page loads.
    return location.pathname === pathname ? paramOf(name) : undefined
  })
  const [closed, setClosed] = useState<string>()
  if (closed !== undefined && closed !== addressed) setClosed(undefined)
  const opened = addressed === closed ? undefined : addressed

  const open = useCallback(
    (value: string) =>
      afterGoingBack(() => {
        setClosed(undefined)
        const address = addressWith(name, value)
        if (paramOf(name) === undefined) navigate(address, { state: { opened: name } })
        else navigate(address, { replace: true, state: history.state })
      }),
    [name],
  )

  const close = useCallback(async () => {
    // It may have been closed by Back already, before what it saved was saved.
    if (opened === undefined || opened !== paramOf(name)) return
    const address = addressWith(name, undefined)
    setClosed(opened)
    if (history.state?.opened === name) await goBack()
    // It was opened by its link, or the other parameters have changed since.
    if (address !== location.href && isOfPage(address))
      navigate(address, { replace: true, state: history.state })
  }, [name, opened])

  return { opened, open, close }
}

const paramOf = (name: string) => new URLSearchParams(location.search).get(name) || undefined

function addressWith(name: string, value: string | undefined): string {
  const url = new URL(location.href)
  if (value === undefined) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  return url.href
}

const isOfPage = (address: string) => new URL(address).pathname === location.pathname
