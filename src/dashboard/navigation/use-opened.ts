import { useCallback, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { afterGoingBack, goBack } from './go-back.ts'
import { addressWith, parameterOf, useParameter } from './use-parameter.ts'

/**
 * What is open on a page: a dialog, an editor, a tab, or an item of an inbox, as the search parameter `name`. Its address
 * opens it again, and Back closes it. What is closed is closed at once; links and `navigate` wait for the address.
 */
export function useOpened(name: string) {
  const [addressed] = useParameter(name)
  const [closed, setClosed] = useState<string>()
  if (closed !== undefined && closed !== addressed) setClosed(undefined)
  const opened = addressed === closed ? undefined : addressed

  const open = useCallback(
    (value: string) =>
      afterGoingBack(() => {
        setClosed(undefined)
        const address = addressWith(name, value)
        if (parameterOf(name) === undefined) navigate(address, { state: { opened: name } })
        else navigate(address, { replace: true, state: history.state })
      }),
    [name],
  )

  const close = useCallback(async () => {
    // It may have been closed by Back already, before what it saved was saved.
    if (opened === undefined || opened !== parameterOf(name)) return
    const address = addressWith(name, undefined)
    setClosed(opened)
    if (history.state?.opened === name) await goBack()
    // It was opened by its link, or the other parameters have changed since.
    if (address !== location.href && isOfPage(address))
      navigate(address, { replace: true, state: history.state })
  }, [name, opened])

  return { opened, open, close }
}

const isOfPage = (address: string) => new URL(address).pathname === location.pathname
