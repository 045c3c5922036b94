import { useCallback, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { afterGoingBack, goBack } from './go-back.ts'
import { addressWith, parameterOf, useParameter } from './use-parameter.ts'

const NOTHING: readonly string[] = []

/**
 * What is open on a page: a dialog, an editor, a tab, or an item of an inbox, as the search parameter `name`. Its address
 * opens it again, and Back closes it. What is closed is closed at once; links and `navigate` wait for the address.
 *
 * @param within a constant: the parameters of what is open, which are closed with it.
 */
export function useOpened(name: string, within = NOTHING) {
  const [addressed] = useParameter(name)
  const [closed, setClosed] = useState<string>()
  const opened = addressed === closed ? undefined : addressed

  const open = useCallback(
    (value: string) =>
      afterGoingBack(() => {
        const isOpen = parameterOf(name) !== undefined
        const address = addressWith([...within.map((inner) => [inner] as const), [name, value]])
        if (isOpen) navigate(address, { replace: true, state: history.state })
        else navigate(address, { state: { opened: [...openedInHistory(), name] } })
      }),
    [name, within],
  )

  const close = useCallback(async () => {
    // It may have been closed by Back already, before what it saved was saved.
    if (opened === undefined || opened !== parameterOf(name)) return
    const address = addressWith([...within, name].map((closed) => [closed] as const))
    setClosed(opened)
    const names = openedInHistory()
    const index = names.lastIndexOf(name)
    if (index >= 0) await goBack(names.length - index)
    // It was opened by its link, or the other parameters have changed since.
    if (address !== location.href && isOfPage(address))
      navigate(address, { replace: true, state: history.state })
    setClosed(undefined)
  }, [name, within, opened])

  return { opened, open, close }
}

/** What has been opened one upon the other, each with an entry of the history. */
const openedInHistory = (): string[] => history.state?.opened ?? []

const isOfPage = (address: string) => new URL(address).pathname === location.pathname
